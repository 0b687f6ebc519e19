"""Questions to the user that any attached front end can answer."""

import asyncio
import os
import time

from tejat.core.agent.events import AgentEvent, QuestionAnswered, QuestionAsked
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver
from tejat.engine.sessions.event_bus import EventBus


class QuestionQueue:
    """An `Approver` that publishes each request and waits for the first answer, one question at a time."""

    def __init__(self, events: EventBus[AgentEvent]) -> None:
        self._events = events
        self._lock = asyncio.Lock()
        self._pending: dict[str, tuple[PendingQuestion, asyncio.Future[ApprovalReply]]] = {}

    @property
    def pending(self) -> tuple[PendingQuestion, ...]:
        return tuple(question for question, _ in self._pending.values())

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Publish a request and wait for its answer. Raises what `fail` was given, and what a listener raised."""
        async with self._lock:
            asked = PendingQuestion(os.urandom(8).hex(), question, time.time())
            future: asyncio.Future[ApprovalReply] = asyncio.get_running_loop().create_future()
            self._pending[asked.question_id] = asked, future
            reply: ApprovalReply | None = None
            try:
                self._events.emit(QuestionAsked(asked))
                reply = await future
                return reply
            finally:
                del self._pending[asked.question_id]
                self._events.emit(QuestionAnswered(asked.question_id, reply))

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        """Settle a question. False if it is unknown or already settled."""
        future = self._open_future(question_id)
        if future is not None:
            future.set_result(reply)
        return future is not None

    def fail(self, question_id: str, error: Exception) -> bool:
        """Make `ask` raise this error. False if the question is unknown or already settled."""
        future = self._open_future(question_id)
        if future is not None:
            future.set_exception(error)
        return future is not None

    def _open_future(self, question_id: str) -> "asyncio.Future[ApprovalReply] | None":
        _, future = self._pending.get(question_id, (None, None))
        return None if future is None or future.done() else future


class QuestionResponder:
    """A listener that answers questions through an `Approver`, cancelled when another answer comes first."""

    def __init__(self, questions: QuestionQueue, approver: Approver) -> None:
        self._questions = questions
        self._approver = approver
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __call__(self, event: AgentEvent) -> None:
        match event:
            case QuestionAsked(question):
                self._tasks[question.question_id] = asyncio.create_task(self._respond(question))
            case QuestionAnswered(question_id):
                if task := self._tasks.pop(question_id, None):
                    task.cancel()
            case _:
                pass

    async def _respond(self, question: PendingQuestion) -> None:
        try:
            reply = await self._approver.ask(question.request)
        except Exception as error:  # noqa: BLE001 -- raised where the question was asked
            self._questions.fail(question.question_id, error)
        else:
            self._questions.answer(question.question_id, reply)
