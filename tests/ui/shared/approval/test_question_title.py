"""The heading of a question in one line."""

import pytest

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ApprovalSubject,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
)
from tejat.core.approval.user_question import UserQuestion
from tejat.ui.shared.approval.question_title import question_title

DIFF = "@@ -1 +1 @@\n-old\n+new\n"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (EditConfirmation("t", "a.txt", "/w/a.txt", DIFF, "old\n", "new\n"), "Edit /w/a.txt +1 -1"),
        (ExecConfirmation("t", "ls", "/w", ("ls",)), "Run a command in /w"),
        (AskUserConfirmation("t", (UserQuestion("Which?", "h"),)), "Question of the model"),
        (ElicitationConfirmation("t", "notes", "Your name?", {"type": "object"}), "Question from the MCP server notes"),
    ],
)
def test_it_says_what_is_asked(subject: ApprovalSubject, expected: str) -> None:
    assert question_title(ApprovalRequest(subject, "tool")) == expected


def test_it_stays_on_one_line_without_control_characters() -> None:
    subject = EditConfirmation("t", "a\x1b[2J\nb", "/w/a\x1b[2J\nb", DIFF, "old\n", "new\n")
    title = question_title(ApprovalRequest(subject, "tool"))
    assert not {"\x1b", "\n"} & set(title)
