"""Lines that differ by a few letters and mean something else."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.merge.semantic_guard import check_same_meaning


def check(old: str, text: str, new: str = "something_new()") -> None:
    block, target, alignment = best_alignment(old, text)
    check_same_meaning(block, new.split("\n"), target, alignment)


@pytest.mark.parametrize(
    ("old", "text", "reason"),
    [
        pytest.param("x = enable_it(a)\nnext()", "x = disable_it(a)\nnext()", "opposite", id="the opposite"),
        pytest.param("total = a + b\nnext()", "total = a - b\nnext()", "other operators", id="an operator"),
        pytest.param("pick_one(a, b)\nnext()", "pick_one(b, a)\nnext()", "another order", id="the order"),
        pytest.param("if ready_now(a):\n    next()", "if ready_new(b):\n    next()", "decides otherwise", id="a guard"),
    ],
)
def test_another_meaning(old: str, text: str, reason: str) -> None:
    with pytest.raises(MergeConflict, match=reason):
        check(old, text)


@pytest.mark.parametrize(
    ("old", "text"),
    [
        pytest.param("retrun_value(a)\nnext()", "return_value(a)\nnext()", id="a typo"),
        pytest.param("    value(a)\nnext()", "value( a )\nnext()", id="white space"),
        pytest.param('say(\\"a\\")\nnext()', 'say("a")\nnext()', id="escapes"),
    ],
)
def test_the_same_meaning(old: str, text: str) -> None:
    check(old, text)


def test_a_line_that_the_new_text_has_as_the_file_has_it_was_known() -> None:
    check("x = enable_it(a)\nnext()", "x = disable_it(a)\nnext()", "x = disable_it(a)\nnew()")
