"""A server's questions at a real terminal."""

import pytest

from support.terminal.pty_program import run_at_terminal

ASK = """
import asyncio, sys
from tejat.ui.plain.approver import AutoApprover, ConsoleApprover
from tejat.ui.plain.style import Style
from tejat.core.approval.confirmation import ElicitationConfirmation, ApprovalRequest

form = {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "title": "Your\\x1b[2J name"},
    "age": {"type": "integer", "default": 30},
    "colour": {"type": "string", "enum": ["red", "blue"]},
}}
asked = {
    "form": ElicitationConfirmation("Asked", "srv\\u202e", "Who are you?\\nTell me.\\x07", form),
    "odd": ElicitationConfirmation("Asked", "srv", "What?", {"properties": {"a": {"type": "object"}}}),
    "visit": ElicitationConfirmation("Asked", "srv", "Log in", url="https://example.org/login"),
    "file": ElicitationConfirmation("Asked", "srv", "Look", url="file:///etc/passwd"),
}
approver = AutoApprover() if sys.argv[2:] else ConsoleApprover(Style(sys.stderr))
answer = asyncio.run(approver.ask(ApprovalRequest(asked[sys.argv[1]], "")))
print(answer.outcome.value, answer.answers)
"""
NO = "cancel None\n"


def test_field_by_field_and_a_last_look() -> None:
    with run_at_terminal("-c", ASK, "form") as terminal:
        shown = terminal.wait_for("Answer? The server receives your answers. (y/n) ")
        assert "Question from the MCP server srv<U+202E>:" in shown
        assert "> Who are you?\n> Tell me.<U+0007>" in shown
        assert "Requested: Your<U+001B>[2J name, age, colour" in shown
        terminal.type(b"y\n")
        terminal.wait_for("= ")
        terminal.type(b"\n")
        terminal.wait_for("An answer is required.")
        terminal.type(b"Ada\n")
        terminal.wait_for("age (a whole number, default 30)")
        terminal.type(b"old\n")
        terminal.wait_for("Enter an integer.")
        terminal.type(b"\n")
        terminal.wait_for("colour (one of these, optional)")
        terminal.type(b"2\n")
        terminal.wait_for('Answers: {"age":30,"name":"Ada","colour":"blue"}')
        terminal.type(b"y\n")
        assert terminal.wait_for_exit() == (0, "proceed_once {'age': 30, 'name': 'Ada', 'colour': 'blue'}\n")


@pytest.mark.parametrize("typed", [b"n\n", b"\x04"])
def test_no_is_no(typed: bytes) -> None:
    with run_at_terminal("-c", ASK, "form") as terminal:
        terminal.wait_for("(y/n) ")
        terminal.type(typed)
        assert terminal.wait_for_exit() == (0, NO)


def test_the_end_of_the_input_in_the_middle_is_a_no() -> None:
    with run_at_terminal("-c", ASK, "form") as terminal:
        terminal.wait_for("(y/n) ")
        terminal.type(b"maybe\n")
        terminal.wait_for("Type y or n.")
        terminal.type(b"y\n")
        terminal.wait_for("= ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, NO)


def test_what_nobody_could_type_in_is_not_answered() -> None:
    with run_at_terminal("-c", ASK, "odd") as terminal:
        assert terminal.wait_for_exit() == (0, NO)
        told = "Not answered: it wants a kind of value for 'a' that nobody could type in.\n"
        assert terminal.shown.replace("\n| ", "").endswith(told)


def test_an_address_is_shown_and_not_opened() -> None:
    with run_at_terminal("-c", ASK, "visit") as terminal:
        terminal.wait_for("> https://example.org/login")
        terminal.wait_for("Tell the server that you will open it? (y/n) ")
        terminal.type(b"y\n")
        assert terminal.wait_for_exit() == (0, "proceed_once {}\n")


def test_an_address_of_something_else_is_refused() -> None:
    with run_at_terminal("-c", ASK, "file") as terminal:
        terminal.wait_for("Not answered: the URL is not a web page.")
        assert terminal.wait_for_exit() == (0, NO)


def test_a_yes_given_beforehand_answers_no_server() -> None:
    with run_at_terminal("-c", ASK, "form", "yes") as terminal:
        assert terminal.wait_for_exit() == (0, NO)
