"""Explanations of refused edits."""

import pytest

from tejat.tools.edit.pipeline import find_edits
from tejat.tools.edit.report.error_message import explain_refusal
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditRefusal
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile


def explained(old: str, text: str, *, new: str = "something_new = 1", expected: int | None = 1) -> str:
    request = EditRequest(old, new, expected)
    refusal = find_edits(TextFile(text.encode(), UTF_8), request)
    assert isinstance(refusal, EditRefusal)
    return explain_refusal(refusal, request)


@pytest.mark.parametrize(
    ("old", "text", "expected", "sentence"),
    [
        pytest.param("  \n", "a\n", 1, "nothing but white space", id="blank"),
        pytest.param("same", "same\nsame\n", 1, "They begin in lines 1, 2.", id="too often"),
        pytest.param("same", "same\n", 2, "It begins in line 1.", id="not often enough"),
        pytest.param("whatever = 1", "", 1, "The file is empty.", id="an empty file"),
        pytest.param("whatever = 1", "zz\n", 1, "none of the telling words of old_string", id="no word in common"),
        pytest.param("other = whatever + nonsense", "whatever\n", 1, "shares most words", id="a word in common"),
        pytest.param(
            "    same_line()\n", "same_line()\nx\nsame_line()\n", 1, "Several places fit equally well", id="two places"
        ),
    ],
)
def test_the_sentence(old: str, text: str, expected: int, sentence: str) -> None:
    assert sentence in explained(old, text, expected=expected)


def test_an_edit_that_is_applied_already() -> None:
    text = "alpha_line()\nnew_value = compute()\nbravo_line()\n"
    new = "alpha_line()\nnew_value = compute()\nbravo_line()"
    assert "seems to be applied already" in explained("alpha_line()\nold = 1\nbravo_line()", text, new=new)


def test_what_differs_is_listed() -> None:
    text = "alpha_line()\ntimeout = 30\nbravo_line()\n"
    explanation = explained(
        "alpha_line()\ntimeout = 60\nbravo_line()", text, new="alpha_line()\ntimeout = 90\nbravo_line()"
    )
    assert "Line 2 is to be" in explanation
    assert "old_string has `timeout = 60`, the file `timeout = 30`" in explanation
