"""Approvers for a plain terminal and for `--yes`."""

import sys

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Risk,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.ui.plain.style import Style


def is_interactive() -> bool:
    """Whether questions can be seen and answered: standard input and error are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class AutoApprover:
    """Approves everything (`--yes`)."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Approve, but decline elicitations and another model: a yes is no answer to them.

        Raises ToolFailure for what cannot be undone, and UserUnavailable for questions and plans of the model: only a
        person may accept or answer that.
        """
        if Risk.NO_UNDO in question.risks:
            message = lazy("--yes does not cover this call. {reason}", reason=question.reason)
            raise ToolFailure(message, ErrorType.POLICY_VIOLATION)
        if isinstance(question.confirmation, AskUserConfirmation | PlanConfirmation):
            raise UserUnavailable
        is_asked_more = isinstance(question.confirmation, ElicitationConfirmation | ModelChangeConfirmation)
        return ApprovalReply(Outcome.CANCEL if is_asked_more else Outcome.PROCEED_ONCE)


class ConsoleApprover:
    """Asks on standard error, reads standard input.

    `preferred_editor` is the name of an editor from the settings, for changes that the user edits; without it, the one
    of the environment. It opens a `new_window` if it can. Programs below `untrusted` are never run as the editor.
    """

    def __init__(
        self,
        style: Style,
        *,
        preferred_editor: str | None = None,
        new_window: bool = False,
        untrusted: tuple[str, ...] = (),
    ) -> None:
        self._style = style
        self._new_window = new_window
        self._preferred_editor = preferred_editor
        self._untrusted = untrusted

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask for approval. The end of the input and a lost terminal stop the turn."""
        # Imported late: most calls ask nothing.
        from tejat.ui.plain.approval_dialog import PlainApprovalDialog
        from tejat.ui.shared.external.editor import ExternalEditor

        editor = ExternalEditor(self._preferred_editor, self._untrusted, self._new_window)
        try:
            return await PlainApprovalDialog(self._style, editor).ask(question)
        except OSError:
            return ApprovalReply(Outcome.STOP)
