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
        'The server "srv" asks:',
        "> Who are you?",
        "> Tell me.",
        "It wants to know: Your name, age, colour",
        "Answer it? Your answers go to this server.",
        "❯ y Yes",
        "  n No",
    ]
    assert asked.press("y") is None
    assert asked.rows() == [
        'The server "srv" asks:',
        "Your name (text) [1 of 3]",
        "> As in your passport",
        "=",
        "Enter goes on, Esc is a no.",
    ]
    assert asked.dialog.caret(width=60, height=20) == (2, 3)
    assert asked.press("enter") is None
    assert asked.rows()[-1] == "Please answer this one."
    assert asked.press(*"Ada", "enter") is None
    assert asked.rows()[1] == "age (a whole number, empty for 30) [2 of 3]"
    assert asked.press(*"old", "enter") is None
    assert asked.rows()[2:] == ["= old", "Enter goes on, Esc is a no.", "Please give a whole number."]
    assert asked.press("backspace", "backspace", "backspace", "enter") is None
    assert asked.rows()[1:5] == ["colour (one of these, may be left empty) [3 of 3]", "  1 red", "  2 blue", "="]
    assert asked.press("down", "down", "enter") is None
    assert asked.rows() == [
        'The server "srv" asks:',
        'To be sent: {"age":30,"name":"Ada","colour":"blue"}',
        "Send it?",
        "❯ y Yes",
        "  n No",
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
    assert asked.rows()[2] == "Send it?"


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
        "It wants you to visit this address in a browser:",
        "> https://example.org/login",
        "Tell it that you will?",
    ]
    assert asked.press("y") == ApprovalReply(Outcome.PROCEED_ONCE, answers={})
    assert Asked(VISIT).press("n") == NO


@pytest.mark.parametrize(
    ("confirmation", "told"),
    [
        (
            ElicitationConfirmation("T", "srv", "Look", url="file:///etc/passwd"),
            "This is no address of a web page, so it is not",
        ),
        (
            ElicitationConfirmation("T", "srv", "What?", {}),
            "This cannot be answered here: it does not say what it wants to know",
        ),
    ],
)
def test_what_cannot_be_answered(confirmation: ElicitationConfirmation, told: str) -> None:
    asked = Asked(confirmation)
    assert any(told.startswith(row) or row.startswith(told) for row in asked.rows() if row)
    assert asked.rows()[-1] == "Enter goes on."
    assert asked.press("y") is None
    assert asked.press("enter") == NO


def test_nothing_but_whether_they_agree() -> None:
    asked = Asked(ElicitationConfirmation("T", "srv", "Fine?", {"properties": {}}))
    assert asked.press("y") is None
    assert asked.press("y") == ApprovalReply(Outcome.PROCEED_ONCE, answers={})


def test_a_long_message_can_be_scrolled() -> None:
    asked = Asked(ElicitationConfirmation("T", "srv", "\n".join(f"line {n}" for n in range(50)), FIELDS), height=12)
    assert "> line 0" in asked.rows()
    assert any("more rows below." in row for row in asked.rows())
    asked.press("end")
    assert "It wants to know: Your name, age, colour" in asked.rows()
    assert any("This is the end." in row for row in asked.rows())


def test_hostile_texts() -> None:
    fields: JsonObject = {
        "properties": {"a": {"type": "string", "title": HOSTILE, "description": HOSTILE, "enum": [HOSTILE, "x"]}}
    }
    asked = Asked(ElicitationConfirmation(HOSTILE, HOSTILE, HOSTILE, fields), width=200)
    assert asked.rows()[0] == f'The server "{HOSTILE_SANITIZED}" asks:'
    asked.press("y")
    assert asked.rows()[1:4] == [
        f"{HOSTILE_SANITIZED} (one of these, may be left empty) [1 of 1]",
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
