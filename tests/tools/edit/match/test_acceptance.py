"""Which alignments are certain enough to be edited."""

import pytest

from support.edit_alignment import indexed
from tejat.tools.edit.match.acceptance import accept_alignments, is_whitespace_match, tied_alignments
from tejat.tools.edit.match.candidates import find_candidates
from tejat.tools.edit.match.search_block import SearchBlock


def accepted(old: str, text: str, expected: int | None = 1) -> list[int]:
    block, target = SearchBlock.from_text(old), indexed(text)
    found = find_candidates(block, target, max_places=None if expected == 1 else 9).alignments
    return [each.start for each in accept_alignments(block, target, found, expected)]


@pytest.mark.parametrize(
    ("old", "text", "starts"),
    [
        pytest.param("    first()\n", "first()\nother()\n", [0], id="white space"),
        pytest.param("a = frist_value\nb = 2\n", "a = first_value\nb = 2\n", [0], id="a typo beside a known line"),
        pytest.param("retrun_value(x)\n", "return_value(x)\n", [0], id="a typo in a line of its own"),
        pytest.param("}\n", "{ }\n", [], id="too little text"),
        pytest.param("same()\n", "    same()\nother\n    same()\n", [], id="two places that fit equally well"),
        pytest.param("one()\ntwo()\nthree()\n", "one()\nx = 4\ny = 5\n", [], id="most lines are not there"),
        pytest.param(
            "one_line()\ntwo_line()\nthree_line()\ngone = 1\n",
            "one_line()\ntwo_line()\nthree_line()\nhere(2)\n",
            [0],
            id="one stale line beside many known ones",
        ),
    ],
)
def test_one_place(old: str, text: str, starts: list[int]) -> None:
    assert accepted(old, text) == starts


def test_as_many_places_as_are_expected() -> None:
    text = "  same()\nother\n    same()\n"
    assert accepted("same()", text, 2) == [0, 2]
    assert accepted("same()", text, 3) == []
    assert accepted("same()", text, None) == [0, 2]


def test_alignments_that_tie_with_the_best() -> None:
    block, target = SearchBlock(["same()"]), indexed("  same()\nother\n  same()\n")
    assert len(tied_alignments(block, target, find_candidates(block, target).alignments)) == 2
    assert tied_alignments(block, target, []) == []


@pytest.mark.parametrize(("line", "is_match"), [("first( )", True), ("  first()", True), ("frist()", False)])
def test_white_space_alone(line: str, is_match: bool) -> None:
    block, target = SearchBlock([line, "second_line"]), indexed("first()\nsecond_line\n")
    assert is_whitespace_match(block, find_candidates(block, target).alignments[0]) is is_match
