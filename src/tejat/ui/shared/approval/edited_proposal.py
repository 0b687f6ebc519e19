"""Proposals that the user edits instead of answering yes or no."""

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    Outcome,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.i18n import _
from tejat.ui.shared.approval.choices import ChoiceAction, approval_choices
from tejat.ui.shared.approval.trial import change_list


def editable_text(request: ApprovalRequest) -> str | None:
    """The text that the user may edit instead of a yes or no; None if there is none, or it is too large."""
    if not any(choice.outcome is ChoiceAction.MODIFY for choice in approval_choices(request)):
        return None
    match request.confirmation:
        case PlanConfirmation(text=text):
            return text
        case TrialConfirmation() as trial:
            return change_list(trial)
        case EditConfirmation(new_content=content):
            return content
        case _:
            return None


def edited_reply(before: str | None, after: str) -> ApprovalReply:
    """The reply with an edited text. Raises ValueError with a message for the user."""
    if before is None:
        raise ValueError(_("This change is too large to edit."))
    if after == before:
        raise ValueError(_("No changes made."))
    return ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=after)
