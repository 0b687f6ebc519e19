"""What it costs to take one line for another, where that depends on what stands around it."""

from tejat.tools.edit.match.cost_matrix import STALE, CostMatrix
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import SPACING
from tejat.tools.edit.match.search_block import SearchBlock
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile


def test_white_space_within_a_line_matters_only_where_it_tells_lines_apart() -> None:
    spaced, plain, between = "a = f( x )\n", "a = f(x)\n", "another line\n" * 20
    page = IndexedFile(TextFile(f"{spaced}{plain}{between}{spaced}".encode(), UTF_8))
    pairs = CostMatrix(SearchBlock.from_text(plain), page)
    assert [pairs.cost(0, at) for at in (0, 1, 22, 0)] == [STALE, 0, SPACING, STALE]
