"""Approver that asks in dialogs of the terminal."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ChoiceSubject,
    EditConfirmation,
    ElicitationConfirmation,
    Outcome,
    PlanConfirmation,
    TrialConfirmation,
)
from tejat.core.errors import UsageError
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.approval.choices import always_note
from tejat.ui.shared.approval.text import approval_text_lines
from tejat.ui.shared.approval.trial import change_list
from tejat.ui.shared.approval.view import build_approval_view
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager
from tejat.ui.terminal.dialogs.approval.dialog import ApprovalDialog, DialogAction
from tejat.ui.terminal.dialogs.ask_user import AskUserDialog
from tejat.ui.terminal.dialogs.elicitation import ElicitationDialog

if TYPE_CHECKING:
    from tejat.ui.terminal.screen.inline_screen import InlineScreen


class TerminalApprover:
    """Asks on the screen. `stop` cancels the turn after a stop in a question whose reply alone cannot."""

    def __init__(
        self, screen: "InlineScreen", *, stop: Callable[[], None], editor: Callable[[], ExternalEditor], pager: Pager
    ) -> None:
        self._screen = screen
        self._stop = stop
        self._editor = editor
        self._pager = pager
        self._last_always: ChoiceSubject | None = None
        """What the last "always" was about."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        confirmation = question.confirmation
        match confirmation:
            case ElicitationConfirmation():
                dialog = ElicitationDialog(confirmation, self._screen.theme)
            case AskUserConfirmation():
                dialog = AskUserDialog(confirmation, self._screen.theme)
            case _:
                return await self._ask_about_call(question, confirmation)
        answer = await self._screen.run_dialog(dialog)
        if answer.outcome is Outcome.STOP:
            self._stop()
        return answer

    async def _ask_about_call(self, question: ApprovalRequest, confirmation: ChoiceSubject) -> ApprovalReply:
        if confirmation == self._last_always:  # asked again: the rule could not be saved
            self._screen.clear_hint()
        self._last_always = None
        dialog = ApprovalDialog(question, confirmation, self._screen.theme)
        while True:
            decided = await self._screen.run_dialog(dialog)
            match decided:
                case ApprovalReply():
                    if note := always_note(question, decided):
                        self._screen.show_hint(note)
                        self._last_always = confirmation
                    return decided
                case DialogAction.PAGER:
                    await self._show_in_pager(question, confirmation, dialog)
                case DialogAction.MODIFY:
                    rewritten = await self._edit_proposal(confirmation)
                    if rewritten is not None:
                        return rewritten
            dialog.reopen()

    async def _show_in_pager(
        self, question: ApprovalRequest, confirmation: ChoiceSubject, dialog: ApprovalDialog
    ) -> None:
        """Show the whole request in the pager."""
        try:
            async with self._screen.released():
                await self._pager.show("\n".join(approval_text_lines(build_approval_view(question, confirmation))))
        except UsageError as error:
            self._screen.show_hint(sanitize_text(translate(error)))
        else:
            dialog.mark_fully_viewed()

    async def _edit_proposal(self, confirmation: ChoiceSubject) -> ApprovalReply | None:
        """Return the reply with the edited content, None if there is none."""
        if isinstance(confirmation, PlanConfirmation):
            return await self._edit(confirmation.text, lambda editor: editor.edit_text(confirmation.text, suffix=".md"))
        if isinstance(confirmation, TrialConfirmation):
            listed = change_list(confirmation)
            return await self._edit(listed, lambda editor: editor.edit_text(listed, suffix=".txt"))
        if not isinstance(confirmation, EditConfirmation) or confirmation.new_content is None:
            self._screen.show_hint(_("This change is too large to edit."))
            return None
        name, old, new = confirmation.file_name, confirmation.original_content or "", confirmation.new_content
        return await self._edit(new, lambda editor: editor.edit_diff(name, old=old, new=new))

    async def _edit(self, text: str, edit: Callable[[ExternalEditor], Awaitable[str]]) -> ApprovalReply | None:
        try:
            async with self._screen.released():
                content = await edit(self._editor())
        except UsageError as error:
            self._screen.show_hint(sanitize_text(translate(error)))
            return None
        if content == text:
            self._screen.show_hint(_("No changes made."))
            return None
        return ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=content)
