"""Text amid a line that is too long to be compared as a whole."""

import pytest

from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.merge.long_lines import edit_long_line
from tejat.tools.edit.request import EditRequest
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile

FILLING = "some words; " * 300
PLACE = "the only combination(of, these) words; "


def amid(line: str, old: str, new: str) -> list[LineReplacement] | None:
    return edit_long_line(EditRequest(old, new), IndexedFile(TextFile(f"first\n{line}\nlast\n".encode(), UTF_8)))


@pytest.mark.parametrize(
    ("old", "new", "becomes"),
    [
        ("the only combnation(of, these) words", "the only combnation(of, those) words", PLACE.replace("ese", "ose")),
        (
            "only combination( of,these ) words",
            "only mixture( of,these ) words",
            PLACE.replace("combination", "mixture"),
        ),
        (
            "the only combination(of, theze) words",
            "the only combination(of, all theze) words",
            PLACE.replace("th", "all th", 2).replace("all the only", "the only"),
        ),
    ],
)
def test_a_slip_or_white_space(old: str, new: str, becomes: str) -> None:
    line = f"{FILLING}{PLACE}{FILLING}"
    assert amid(line, old, new) == [LineReplacement(1, 2, (f"{FILLING}{becomes}{FILLING}",))]


def test_a_place_that_only_words_in_a_row_can_tell() -> None:
    filling = "only these words; the words of these; " * 100
    edits = amid(f"{filling}the only place of these words; {filling}", "the only plce of these words", "the only plce")
    assert edits == [LineReplacement(1, 2, (f"{filling}the only place; {filling}",))]


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        pytest.param(f"{FILLING}{PLACE * 2}{FILLING}", "the only combnation(of, these)", "x", id="two places"),
        pytest.param(f"{FILLING}{PLACE}{FILLING}", "the only combination(in, these)", "x", id="another word"),
        pytest.param(f"{FILLING}{PLACE}{FILLING}", "the only combination(of; these)", "x", id="another sign"),
        pytest.param(f"{FILLING}{PLACE}{FILLING}", "nothing of all this here", "x", id="nothing there"),
        pytest.param(f"{FILLING}{PLACE}{FILLING}", "the only\ncombnation(of, these)", "x", id="several lines"),
        pytest.param(f"{FILLING}{PLACE}", "only combnation", "only mixture", id="too little"),
        pytest.param(f"{FILLING}take 10 of these words{FILLING}", "take 11 of these words", "x", id="a number"),
        pytest.param(PLACE, "the only combnation(of, these)", "x", id="a line that is not long"),
    ],
)
def test_not_certain(line: str, old: str, new: str) -> None:
    assert amid(line, old, new) is None
