"""Who answers for the person before a call runs: the person at the terminal, or the yes they gave beforehand."""

import sys

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ElicitationConfirmation, Outcome
from tejat.ui.plain.style import Style


def is_interactive() -> bool:
    """Whether a person sits there: they must be able to see the question and to answer it."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class AutoApprover:
    """The person said yes to everything beforehand (`--yes`)."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """What a server wants to know is not in a yes."""
        is_asked_more = isinstance(question.confirmation, ElicitationConfirmation)
        return ApprovalReply(Outcome.CANCEL if is_asked_more else Outcome.PROCEED_ONCE)


class ConsoleApprover:
    """Asks on standard error, line by line, and takes lines on standard input for an answer.

    `preferred_editor` is the user's own setting (see `ui/shared/external/editor.py`); programs in the `untrusted`
    directories, those worked in, are never run as an editor that PATH leads to.
    """

    def __init__(self, style: Style, *, preferred_editor: str | None = None, untrusted: tuple[str, ...] = ()) -> None:
        self._style = style
        self._preferred_editor = preferred_editor
        self._untrusted = untrusted

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """The end of the input is a no, and so is a terminal that goes away. An interrupt cancels the task."""
        # Most calls ask nothing, and should not wait for what asking needs.
        from tejat.ui.plain.approval_dialog import PlainApprovalDialog
        from tejat.ui.shared.external.editor import ExternalEditor

        editor = ExternalEditor(self._preferred_editor, self._untrusted)
        try:
            return await PlainApprovalDialog(self._style, editor).ask(question)
        except OSError:
            return ApprovalReply(Outcome.CANCEL)
