"""Questions that are answered by typing, after mistakes too."""

from collections.abc import Callable

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ExecConfirmation,
    Outcome,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.notebook.text_prompt import ask_in_text

QUESTION = ApprovalRequest(ExecConfirmation("Run", "ls", "/"), "run_shell_command")


def typist(*lines: str) -> tuple[list[str], Callable[[str], str]]:
    """What is shown, and a function that types these lines."""
    shown, left = list[str](), list(lines)

    def enter(text: str) -> str:
        shown.append(text)
        return left.pop(0)

    return shown, enter


def test_a_key_is_an_answer() -> None:
    shown, enter = typist(" Y ")
    assert ask_in_text(QUESTION, enter) == ApprovalReply(Outcome.PROCEED_ONCE)
    assert shown[0].startswith("  y  Allow once\n")
    assert shown[0].endswith("\nYour answer: ")


def test_an_unknown_key_is_asked_again() -> None:
    shown, enter = typist("maybe", "n")
    assert ask_in_text(QUESTION, enter) == ApprovalReply(Outcome.CANCEL)
    assert shown[1].startswith("Enter one of: y, n, t")


def test_a_wrong_text_is_asked_again() -> None:
    shown, enter = typist("t", "", "t", "Use git.")
    assert ask_in_text(QUESTION, enter) == ApprovalReply(Outcome.CANCEL, feedback="Use git.")
    assert shown[1] == "Message\n> "
    assert shown[2].startswith("Enter a message.\n")


def test_options_have_numbers() -> None:
    options = (QuestionOption("SQLite"), QuestionOption("MySQL"))
    asked = AskUserConfirmation("t", (UserQuestion("Which?", "Database", QuestionType.CHOICE, options),))
    shown, enter = typist("s", "2")
    assert ask_in_text(ApprovalRequest(asked, "ask_user"), enter).answers == {"0": "MySQL"}
    assert shown[1] == "Database\n  1  SQLite\n  2  MySQL\n> "


def test_what_needs_an_editor_is_not_offered() -> None:
    edit = EditConfirmation("Edit", "a", "/a", "", "old", "new")
    shown, enter = typist("e", "n")
    assert ask_in_text(ApprovalRequest(edit, "replace", can_modify=True), enter) == ApprovalReply(Outcome.CANCEL)
    assert "  e  " not in shown[0]
