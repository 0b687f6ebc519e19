"""What a server wants to know."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import HOSTILE, HOSTILE_SANITIZED, UNICODE, FakeClock, draw
from tejat.core.approval.confirmation import ApprovalReply, ElicitationConfirmation, Outcome
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import strip_hidden
from tejat.ui.terminal.dialogs.elicitation import ElicitationDialog

FIELDS: JsonObject = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As in your passport"},
        "age": {"type": "integer", "default": 30, "minimum": 1},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    },
}
FORM = ElicitationConfirmation("Asked", "srv", "Who are you?\nTell me.", FIELDS)
VISIT = ElicitationConfirmation("Asked", "srv", "Log in", url="https://example.org/login")
NO, STOP = ApprovalReply(Outcome.CANCEL), ApprovalReply(Outcome.STOP)


class Asked:
    def __init__(self, asked: ElicitationConfirmation, *, width: int = 60, height: int = 20) -> None:
        self.clock = FakeClock()
        self.width, self.height = width, height
        self.dialog = ElicitationDialog(asked, UNICODE, clock=self.clock)
        self.rows()
        self.clock.now += 1

    def rows(self) -> list[str]:
        return draw(self.dialog, width=self.width, height=self.height)

    def press(self, *keys: str) -> ApprovalReply | None:
        for key in keys:
            decided = self.dialog.press(key)
            if decided is not None:
                return decided.result
            self.rows()
            self.clock.now += 1
        return None


def test_field_by_field_and_a_last_look() -> None:
    asked = Asked(FORM)
    assert asked.rows() == [
        "Question from the MCP server srv:",
        "> Who are you?",
        "> Tell me.",
        "Requested: Your name, age, colour",
        "Answer? The server receives your answers.",
        "❯ Yes (y)",
        "  No (n)",
        "Enter to confirm · Esc to decline",
    ]
    assert asked.press("y") is None
    assert asked.rows() == [
        "Question from the MCP server srv:",
        "Your name (text) [1 of 3]",
        "> As in your passport",
        "=",
        "Enter to continue · Esc to decline",
    ]
    assert asked.dialog.caret(width=60, height=20) == (2, 3)
    assert asked.press("enter") is None
    assert asked.rows()[-1] == "An answer is required."
    assert asked.press(*"Ada", "enter") is None
    assert asked.rows()[1] == "age (a whole number, default 30) [2 of 3]"
    assert asked.press(*"old", "enter") is None
    assert asked.rows()[2:] == ["= old", "Enter to continue · Esc to decline", "Enter an integer."]
    assert asked.press("backspace", "backspace", "backspace", "enter") is None
    assert asked.rows()[1:5] == ["colour (one of these, optional) [3 of 3]", "  1 red", "  2 blue", "="]
    assert asked.press("down", "down", "enter") is None
    assert asked.rows() == [
        "Question from the MCP server srv:",
        'Answers: {"age":30,"name":"Ada","colour":"blue"}',
        "Send these answers?",
        "❯ Yes (y)",
        "  No (n)",
        "Enter to confirm · Esc to decline",
    ]
    sent: JsonObject = {"age": 30, "name": "Ada", "colour": "blue"}
    assert asked.press("enter") == ApprovalReply(Outcome.PROCEED_ONCE, answers=sent)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["n"], NO),
        (["escape"], NO),
        (["tab", "enter"], NO),
        (["c-c"], STOP),
        (["y", "escape"], NO),
        (["y", "c-c"], STOP),
        (["y", *"Ada", "enter", "enter", "enter", "n"], NO),
        (
            ["y", *"Ada", "enter", "enter", "enter", "y"],
            ApprovalReply(Outcome.PROCEED_ONCE, answers={"age": 30, "name": "Ada"}),
        ),
        (["paste", "y", "n", "paste-end"], None),
    ],
)
def test_keys(keys: list[str], answer: ApprovalReply | None) -> None:
    assert Asked(FORM).press(*keys) == answer


def test_a_key_that_is_held_down_sends_nothing() -> None:
    asked = Asked(FORM)
    asked.press("y", *"Ada", "enter", "enter")
    for _ in range(30):
        assert asked.dialog.press("enter") is None
        asked.rows()
        asked.clock.now += 0.03
    assert asked.rows()[2] == "Send these answers?"


def test_keys_meant_for_something_else_do_not_count() -> None:
    clock = FakeClock()
    dialog = ElicitationDialog(FORM, UNICODE, clock=clock)
    draw(dialog)
    clock.now += 0.2
    assert dialog.press("n") is None
    decided = dialog.press("escape")
    assert decided is not None
    assert decided.result == NO


def test_an_address_to_visit() -> None:
    asked = Asked(VISIT)
    assert asked.rows()[1:5] == [
        "> Log in",
        "Open this page in a browser:",
        "> https://example.org/login",
        "Tell the server that you will open it?",
    ]
    assert asked.press("y") == ApprovalReply(Outcome.PROCEED_ONCE, answers={})
    assert Asked(VISIT).press("n") == NO


@pytest.mark.parametrize(
    ("confirmation", "told"),
    [
        (
            ElicitationConfirmation("T", "srv", "Look", url="file:///etc/passwd"),
            "Not answered: the URL is not a web page.",
        ),
        (
            ElicitationConfirmation("T", "srv", "What?", {}),
            "Not answered: it does not say what it wants to know",
        ),
    ],
)
def test_what_cannot_be_answered(confirmation: ElicitationConfirmation, told: str) -> None:
    asked = Asked(confirmation)
    assert any(told.startswith(row) or row.startswith(told) for row in asked.rows() if row)
    assert asked.rows()[-1] == "Enter to continue"
    assert asked.press("y") is None
    assert asked.press("enter") == NO


def test_nothing_but_whether_they_agree() -> None:
    asked = Asked(ElicitationConfirmation("T", "srv", "Fine?", {"properties": {}}))
    assert asked.press("y") is None
    assert asked.press("y") == ApprovalReply(Outcome.PROCEED_ONCE, answers={})


def test_a_long_message_can_be_scrolled() -> None:
    asked = Asked(ElicitationConfirmation("T", "srv", "\n".join(f"line {n}" for n in range(50)), FIELDS), height=12)
    assert "> line 0" in asked.rows()
    assert any(" more rows · arrows" in row for row in asked.rows())
    asked.press("end")
    assert "Requested: Your name, age, colour" in asked.rows()
    assert any("… end" in row for row in asked.rows())


def test_hostile_texts() -> None:
    fields: JsonObject = {
        "properties": {"a": {"type": "string", "title": HOSTILE, "description": HOSTILE, "enum": [HOSTILE, "x"]}}
    }
    asked = Asked(ElicitationConfirmation(HOSTILE, HOSTILE, HOSTILE, fields), width=200)
    assert asked.rows()[0] == f"Question from the MCP server {HOSTILE_SANITIZED}:"
    asked.press("y")
    assert asked.rows()[1:4] == [
        f"{HOSTILE_SANITIZED} (one of these, optional) [1 of 1]",
        f"> {HOSTILE_SANITIZED}",
        f"  1 {HOSTILE_SANITIZED}",
    ]
    asked.press("down")
    assert asked.press("enter", "y") == ApprovalReply(Outcome.PROCEED_ONCE, answers={"a": HOSTILE})


@given(st.text(max_size=80), st.integers(10, 60), st.integers(2, 20))
@settings(max_examples=60)
def test_any_text_fits_and_is_safe(text: str, width: int, height: int) -> None:
    asked = Asked(ElicitationConfirmation(text, text, text, {"properties": {"a": {"type": "string", "title": text}}}))
    asked.width, asked.height = width, height
    for key in ("y", "x", "enter"):
        assert all(strip_hidden(row) == row for row in asked.rows())
        asked.press(key)
