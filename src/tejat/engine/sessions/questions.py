"""Questions to the user that any attached front end can answer."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tejat.core.agent.events import QuestionAnswered, QuestionAsked
from tejat.core.agent.questions import PendingQuestion
from tejat.core.errors import ApproverFailure
from tejat.core.tools.cancellation import inner_cancellation
from tejat.engine.sessions.event_bus import EventBus

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent
    from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver


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

    def _open_future(self, question_id: str) -> asyncio.Future[ApprovalReply] | None:
        _, future = self._pending.get(question_id, (None, None))
        return None if future is None or future.done() else future


class AnswerSink(Protocol):
    """Where the answers to questions go: a `QuestionQueue`, or a session of a front end."""

    def answer(self, question_id: str, reply: ApprovalReply) -> bool: ...

    def fail(self, question_id: str, error: Exception) -> bool: ...


class QuestionResponder:
    """A listener that answers questions through an `Approver`.

    When another answer comes first, the approver is cancelled and `on_withdrawn` called; a question that nobody answers
    any more is withdrawn silently.
    """

    def __init__(
        self, answers: AnswerSink, approver: Approver, on_withdrawn: Callable[[], object] = lambda: None
    ) -> None:
        self._answers = answers
        self._approver = approver
        self._on_withdrawn = on_withdrawn
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __call__(self, event: AgentEvent) -> None:
        match event:
            case QuestionAsked(question):
                self.begin(question)
            case QuestionAnswered(question_id, reply):
                if task := self._tasks.pop(question_id, None):
                    task.cancel()
                    if reply is not None:
                        self._on_withdrawn()
            case _:
                pass

    def begin(self, question: PendingQuestion) -> None:
        """Ask the approver a question that is already pending."""
        self._tasks[question.question_id] = asyncio.create_task(self._respond(question))

    def close(self) -> None:
        """Withdraw the open questions, which others may still answer."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    async def _respond(self, question: PendingQuestion) -> None:
        question_id = question.question_id
        try:
            reply = await self._approver.ask(question.request)
        except asyncio.CancelledError as error:
            failure = ApproverFailure(inner_cancellation(error, asyncio.current_task(), "The approver"))
            self._tasks.pop(question_id, None)
            self._answers.fail(question_id, failure)
        except Exception as error:  # noqa: BLE001 -- whoever asked must not wait in vain
            self._tasks.pop(question_id, None)
            self._answers.fail(question_id, error)
        else:
            self._tasks.pop(question_id, None)
            self._answers.answer(question_id, reply)
