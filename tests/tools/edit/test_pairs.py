"""What it costs to take one line for another, where that depends on what stands around it."""

from tejat.tools.edit.given import Given
from tejat.tools.edit.likeness import SPACING
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE, Pairs
from tejat.workspace.encoding import UTF_8
from tejat.workspace.splice import TextFile


def test_white_space_within_a_line_matters_only_where_it_tells_lines_apart() -> None:
    spaced, plain, between = "a = f( x )\n", "a = f(x)\n", "another line\n" * 20
    page = Page(TextFile(f"{spaced}{plain}{between}{spaced}".encode(), UTF_8))
    pairs = Pairs(Given.of(plain), page)
    assert [pairs.cost(0, at) for at in (0, 1, 22, 0)] == [STALE, 0, SPACING, STALE]
