"""Questions of the model at a real terminal, in lines."""

import pytest

from support.terminal.pty_program import run_at_terminal

ASK = """
import asyncio, sys
from tejat.ui.plain.approver import ConsoleApprover
from tejat.ui.plain.style import Style
from tejat.core.approval.confirmation import ApprovalRequest, AskUserConfirmation
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion

options = QuestionOption("SQLite", "one\\x1b[2J file"), QuestionOption("Postgres")
asked = AskUserConfirmation("The model asks", (
    UserQuestion("Which?\\nFor good.\\x07", "Database", QuestionType.CHOICE, options),
    UserQuestion("Which checks?", "Checks", QuestionType.CHOICE, options, True),
    UserQuestion("Name?", "Name", placeholder="blog"),
    UserQuestion("Deploy?", "Deploy", QuestionType.YESNO),
))
answer = asyncio.run(ConsoleApprover(Style(sys.stderr)).ask(ApprovalRequest(asked, "ask_user")))
print(answer.outcome.value, answer.answers)
"""
SEND = "Send these answers to the model? (y = yes, n = answer again, d = dismiss) "


def test_one_after_the_other_and_a_last_look() -> None:
    with run_at_terminal("-c", ASK) as terminal:
        shown = terminal.wait_for("= ")
        assert "The model asks. Your answers go to the model and permit nothing." in shown
        assert (
            "Database [1 of 4]\n> Which?\n> For good.<U+0007>\n  1 SQLite: one<U+001B>[2J file\n  2 Postgres\n" in shown
        )
        assert "Type a number or your own words. Empty: no answer." in shown
        terminal.type(b"2\n")
        terminal.wait_for("Type numbers separated by commas, or your own words. Empty: no answer.")
        terminal.type(b"2, mine, 1\n")
        terminal.wait_for("For example: blog\nType your answer. Empty: no answer.")
        terminal.type(b"\n")
        terminal.wait_for("Deploy [4 of 4]")
        terminal.type(b"later\n")
        assert (
            "> Database -> Postgres\n> Checks -> SQLite, Postgres, mine\n> Name -> (no answer)\n> Deploy -> later\n"
            in terminal.wait_for(SEND)
        )
        terminal.type(b"what\n")
        terminal.wait_for("Type y, n or d.")
        terminal.type(b"n\n")
        terminal.wait_for("Database [1 of 4]")
        terminal.type(b"sqlite\n\n\ny\n")
        terminal.wait_for("> Deploy -> Yes")
        terminal.type(b"y\n")
        assert terminal.wait_for_exit() == (0, "proceed_once {'0': 'SQLite', '3': 'Yes'}\n")


@pytest.mark.parametrize("typed", [b"\x04", b"1\n\x04", b"1\n\n\n\nd\n", b"1\n\n\n\n\x04"])
def test_dismissed(typed: bytes) -> None:
    with run_at_terminal("-c", ASK) as terminal:
        terminal.wait_for("= ")
        terminal.type(typed)
        assert terminal.wait_for_exit() == (0, "cancel None\n")
