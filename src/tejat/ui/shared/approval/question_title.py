"""The heading of a question in one line."""

from tejat.core.approval.confirmation import ApprovalRequest, AskUserConfirmation, ElicitationConfirmation
from tejat.core.i18n import _
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.shared.elicitation import elicitation_heading


def question_title(request: ApprovalRequest) -> str:
    """Return the heading of a question as sanitized text without a colon, for a line with its answer."""
    match request.confirmation:
        case ElicitationConfirmation():
            return elicitation_heading(request.confirmation).rstrip(":")
        case AskUserConfirmation():
            return _("Question of the model")
        case confirmation:
            view = build_approval_view(request, confirmation)
            return " ".join((view.heading, *view.counts))
