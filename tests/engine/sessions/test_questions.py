"""Questions that any attached front end can answer."""

import asyncio
from collections.abc import Coroutine

import pytest

from tejat.core.agent.events import AgentEvent, QuestionAnswered, QuestionAsked
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.errors import ApproverFailure
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.questions import QuestionQueue, QuestionResponder

YES = ApprovalReply(Outcome.PROCEED_ONCE)
NO = ApprovalReply(Outcome.CANCEL)


def request(name: str = "note") -> ApprovalRequest:
    return ApprovalRequest(InfoConfirmation("Confirm", "Go on?"), name)


class Env:
    """A queue and all its events."""

    def __init__(self) -> None:
        self.bus = EventBus[AgentEvent]()
        self.events: list[AgentEvent] = []
        self.bus.subscribe(self.events.append)
        self.queue = QuestionQueue(self.bus)

    def ask(self, name: str = "note") -> "asyncio.Task[ApprovalReply]":
        return asyncio.ensure_future(self.queue.ask(request(name)))

    @property
    def pending(self) -> list[str]:
        return [question.request.tool_name for question in self.queue.pending]


def run(main: Coroutine[None, None, None]) -> None:
    asyncio.run(main)


class TestQuestionQueue:
    def test_the_first_answer_wins(self) -> None:
        async def main() -> None:
            env = Env()
            task = env.ask()
            await asyncio.sleep(0)
            (question,) = env.queue.pending
            assert env.queue.answer("another id", NO) is False
            assert env.queue.answer(question.question_id, YES) is True
            assert env.queue.answer(question.question_id, NO) is False
            assert await task == YES
            assert env.queue.answer(question.question_id, NO) is False
            assert env.events == [QuestionAsked(question), QuestionAnswered(question.question_id, YES)]
            assert env.queue.pending == ()

        run(main())

    def test_one_at_a_time(self) -> None:
        async def main() -> None:
            env = Env()
            tasks = [env.ask("first"), env.ask("second")]
            for name in ("first", "second"):
                await asyncio.sleep(0.01)
                assert env.pending == [name]
                env.queue.answer(env.queue.pending[0].question_id, YES)
            assert await asyncio.gather(*tasks) == [YES, YES]

        run(main())

    def test_a_cancelled_question_is_withdrawn(self) -> None:
        async def main() -> None:
            env = Env()
            task = env.ask()
            await asyncio.sleep(0)
            (question,) = env.queue.pending
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert env.events[1:] == [QuestionAnswered(question.question_id, None)]
            assert env.queue.answer(question.question_id, YES) is False

        run(main())

    def test_a_listener_may_answer_at_once(self) -> None:
        async def main() -> None:
            env = Env()

            def answer(event: AgentEvent) -> None:
                if isinstance(event, QuestionAsked):
                    env.queue.answer(event.question.question_id, YES)

            env.bus.subscribe(answer)
            assert await env.queue.ask(request()) == YES

        run(main())


class ScriptedApprover:
    """Answers after a pause, and notes when it was cancelled."""

    def __init__(self, reply: ApprovalReply | Exception, pause: float = 0.0) -> None:
        self.reply = reply
        self.pause = pause
        self.was_cancelled = False

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        try:
            await asyncio.sleep(self.pause)
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class TestQuestionResponder:
    def test_the_slower_of_two_is_cancelled(self) -> None:
        async def main() -> None:
            env = Env()
            slow, quick = ScriptedApprover(NO, 60), ScriptedApprover(YES, 0.01)
            for approver in (slow, quick):
                env.bus.subscribe(QuestionResponder(env.queue, approver))
            assert await env.queue.ask(request()) == YES
            await asyncio.sleep(0)
            assert (slow.was_cancelled, quick.was_cancelled) == (True, False)

        run(main())

    def test_an_error_is_raised_where_the_question_was_asked(self) -> None:
        async def main() -> None:
            env = Env()
            env.bus.subscribe(QuestionResponder(env.queue, ScriptedApprover(ValueError("no terminal"))))
            with pytest.raises(ValueError, match="no terminal"):
                await env.queue.ask(request())
            assert env.queue.pending == ()

        run(main())

    def test_an_approver_that_is_cancelled_by_nobody_leaves_no_question_open(self) -> None:
        class Lost:
            async def ask(self, question: ApprovalRequest) -> ApprovalReply:
                raise asyncio.CancelledError

        async def main() -> None:
            env = Env()
            env.bus.subscribe(QuestionResponder(env.queue, Lost()))
            with pytest.raises(ApproverFailure, match="The approver was cancelled from within"):
                await asyncio.wait_for(env.queue.ask(request()), 60)
            assert env.queue.pending == ()

        run(main())
