"""The text that the new one was written over."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.merge.merge_base import align_blank_lines, find_merge_base


def base(old: str, text: str, new: str) -> list[str]:
    block, target, alignment = best_alignment(old, text)
    return list(find_merge_base(block, new.split("\n"), target, alignment).lines)


@pytest.mark.parametrize(
    ("old", "text", "new", "lines"),
    [
        pytest.param("a = 1\nb = 2", "a = 1\nb = 2", "a = 1\nb = 3", ["a = 1", "b = 2"], id="as given"),
        pytest.param(
            "one()\ntwo()",
            "    one()\n    two()",
            "    one()\n    new()",
            ["    one()", "    two()"],
            id="indented as the file",
        ),
        pytest.param(
            "one()\ntwo()", "    one()\n    two()", "one()\nnew()", ["one()", "two()"], id="indented as given"
        ),
        pytest.param(
            "retrun_it(x)\ntwo()",
            "return_it(x)\ntwo()",
            "return_it(x)\nnew()",
            ["return_it(x)", "two()"],
            id="a typo in old alone",
        ),
    ],
)
def test_lines(old: str, text: str, new: str, lines: list[str]) -> None:
    assert base(old, text, new) == lines


def test_a_blank_line_that_was_never_there_is_dropped() -> None:
    block, target, alignment = best_alignment("alpha()\n\nbravo()", "alpha()\nbravo()")
    aligned, _ = align_blank_lines(block, ["alpha()", "new()", "bravo()"], target, alignment)
    assert aligned.lines == ["alpha()", "bravo()"]


def test_a_blank_line_that_the_new_text_knows_is_added() -> None:
    block, target, alignment = best_alignment("alpha()\nbravo()", "alpha()\n\nbravo()")
    aligned, positions = align_blank_lines(block, ["alpha()", "", "bravo()"], target, alignment)
    assert (aligned.lines, positions.positions) == (["alpha()", "", "bravo()"], (0, 1, 2))
