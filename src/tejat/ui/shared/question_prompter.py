"""Questions of a session, put to the user of one front end."""

import asyncio
from collections.abc import Callable

from tejat.core.agent.events import AgentEvent, QuestionAnswered, QuestionAsked
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, Approver, Outcome
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.ui.contract import UiSession


class QuestionPrompter:
    """Asks the user and answers the session. Questions answered elsewhere are withdrawn with a notice."""

    def __init__(self, session: UiSession, approver: Approver, show_notice: Callable[[str], None]) -> None:
        self._session = session
        self._approver = approver
        self._show_notice = show_notice
        self._tasks: dict[str, asyncio.Task[None]] = {}
        for question in session.pending_questions:
            self._begin(question)

    def handle_event(self, event: AgentEvent) -> None:
        match event:
            case QuestionAsked(question):
                self._begin(question)
            case QuestionAnswered(question_id, reply):
                self._withdraw(question_id, reply)
            case _:
                pass

    def close(self) -> None:
        """Withdraw the open questions, which other front ends may still answer."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def _begin(self, question: PendingQuestion) -> None:
        self._tasks[question.question_id] = asyncio.create_task(self._ask(question))

    async def _ask(self, question: PendingQuestion) -> None:
        try:
            reply = await self._approver.ask(question.request)
        except Exception as error:  # noqa: BLE001 -- a question that cannot be shown is a no: the run must not wait
            self._show_notice(report_unexpected(error, "a question to the user"))
            reply = ApprovalReply(Outcome.CANCEL)
        self._tasks.pop(question.question_id, None)
        self._session.answer(question.question_id, reply)

    def _withdraw(self, question_id: str, reply: ApprovalReply | None) -> None:
        task = self._tasks.pop(question_id, None)
        if task is None:
            return
        task.cancel()
        if reply is not None:
            self._show_notice(_("Answered elsewhere."))
