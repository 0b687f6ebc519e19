"""Who answers for the person before a call runs: the person, in a dialog of the frame."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.confirm import Answer, Confirmation, EditConfirmation, ElicitationConfirmation, Outcome, Question
from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.external_editor import Editor
from tejat.frontends.external_pager import Pager
from tejat.frontends.questions.sheet import sheet_of
from tejat.frontends.terminal.form_dialog import FormDialog
from tejat.frontends.terminal.question_dialog import QuestionDialog, Wish

if TYPE_CHECKING:
    from tejat.frontends.terminal.frame import Frame


class TerminalApprover:
    """An Approver that asks at the frame.

    `stop` cancels the whole turn. It is called where an answer alone cannot do that, which is when a server wants to
    know something; an answer to a question about a call says so by itself.
    """

    def __init__(self, frame: "Frame", *, stop: Callable[[], None], editor: Callable[[], Editor], pager: Pager) -> None:
        self._frame = frame
        self._stop = stop
        self._editor = editor
        self._pager = pager

    async def ask(self, question: Question) -> Answer:
        confirmation = question.confirmation
        if not isinstance(confirmation, ElicitationConfirmation):
            return await self._ask_about_call(question, confirmation)
        answer = await self._frame.ask(FormDialog(confirmation, self._frame.look))
        if answer.outcome is Outcome.STOP:
            self._stop()
        return answer

    async def _ask_about_call(self, question: Question, confirmation: Confirmation) -> Answer:
        dialog = QuestionDialog(question, confirmation, self._frame.look)
        while True:
            decided = await self._frame.ask(dialog)
            match decided:
                case Answer():
                    return decided
                case Wish.PAGER:
                    await self._page(question, confirmation, dialog)
                case Wish.MODIFY:
                    rewritten = await self._rewritten(confirmation)
                    if rewritten is not None:
                        return rewritten
            dialog.reopen()

    async def _page(self, question: Question, confirmation: Confirmation, dialog: QuestionDialog) -> None:
        """All of it in the pager: the facts, the whole body, and what others say of it."""
        sheet = sheet_of(question, confirmation)
        lines = [*sheet.body, *sheet.told]
        facts = [sheet.heading, *(fact.text for fact in sheet.facts), ""]
        try:
            async with self._frame.away():
                await self._pager.show("\n".join([*facts, *(f"{line.mark}{line.text}" for line in lines)]))
        except UsageError as error:
            self._frame.hint(visible(translated(error)))
        else:
            dialog.saw_all()

    async def _rewritten(self, confirmation: Confirmation) -> Answer | None:
        """None where nothing came of it, which is said."""
        if not isinstance(confirmation, EditConfirmation) or confirmation.new_content is None:
            self._frame.hint(say("This is too large to be rewritten by hand."))
            return None
        old, new = confirmation.original_content or "", confirmation.new_content
        try:
            async with self._frame.away():
                content = await self._editor().edit(confirmation.file_name, old=old, new=new)
        except UsageError as error:
            self._frame.hint(visible(translated(error)))
            return None
        if content == new:
            self._frame.hint(say("Nothing was changed."))
            return None
        return Answer(Outcome.MODIFY_WITH_EDITOR, new_content=content)
