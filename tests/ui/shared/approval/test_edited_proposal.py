"""Which proposals can be edited, and what an edited one is."""

import pytest

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    ExecConfirmation,
    Outcome,
    PlanConfirmation,
)
from tejat.ui.shared.approval.edited_proposal import editable_text, edited_reply

EDIT = EditConfirmation("Edit", "a", "/a", "", "old", "new")


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (ApprovalRequest(EDIT, "replace", can_modify=True), "new"),
        (ApprovalRequest(EDIT, "replace"), None),
        (ApprovalRequest(EditConfirmation("Edit", "a", "/a", "", "old", None), "replace", can_modify=True), None),
        (ApprovalRequest(PlanConfirmation("Plan", "/plan.md", "# Plan"), "exit_plan_mode"), "# Plan"),
        (ApprovalRequest(ExecConfirmation("Run", "ls", "/"), "run_shell_command", can_modify=True), None),
    ],
)
def test_editable_text(request_: ApprovalRequest, text: str | None) -> None:
    assert editable_text(request_) == text


def test_edited_reply() -> None:
    assert edited_reply("a", "b") == ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="b")
    with pytest.raises(ValueError, match="No changes made"):
        edited_reply("a", "a")
    with pytest.raises(ValueError, match="too large to edit"):
        edited_reply(None, "a")
