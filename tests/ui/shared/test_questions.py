"""Questions of a session, put to the user of one front end."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import cast

import pytest

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.approval.user_question import UserUnavailable
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.questions import QuestionQueue
from tejat.ui.contract import UiSession
from tejat.ui.shared.questions import answer_questions

YES = ApprovalReply(Outcome.PROCEED_ONCE)
NO = ApprovalReply(Outcome.CANCEL)
REQUEST = ApprovalRequest(InfoConfirmation("Confirm", "Go on?"), "note")


class Session:
    """The part of a session that questions need."""

    def __init__(self) -> None:
        self.events = EventBus[AgentEvent]()
        self.queue = QuestionQueue(self.events)
        self.answer = self.queue.answer
        self.fail_question = self.queue.fail

    @property
    def pending_questions(self) -> Sequence[PendingQuestion]:
        return self.queue.pending

    def subscribe(self, listener: Callable[[AgentEvent], None]) -> Callable[[], None]:
        return self.events.subscribe(listener)


class User:
    """Answers after a while, or cannot be asked."""

    def __init__(self, reply: ApprovalReply | Exception, seconds: float = 0.0) -> None:
        self._reply = reply
        self._seconds = seconds
        self.notices: list[str] = []

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        await asyncio.sleep(self._seconds)
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply


def ask(*users: User, is_pending: bool = False) -> ApprovalReply:
    """Ask one question of these users, each at a front end, attached before it is asked or while it is pending."""

    async def main() -> ApprovalReply:
        session = Session()
        asking = asyncio.create_task(session.queue.ask(REQUEST))
        if is_pending:
            await asyncio.sleep(0)
            assert session.pending_questions
        with ExitStack() as attached:
            for user in users:
                front_end = answer_questions(cast("UiSession", session), user, user.notices.append)
                attached.enter_context(front_end)
            return await asyncio.wait_for(asking, 60)

    return asyncio.run(main())


@pytest.mark.parametrize("is_pending", [False, True])
def test_the_first_answer_wins_and_the_others_are_told(is_pending: bool) -> None:
    slow, quick = User(NO, 60), User(YES, 0.01)
    assert ask(slow, quick, is_pending=is_pending) == YES
    assert (slow.notices, quick.notices) == (["Answered elsewhere."], [])


def test_whoever_asks_learns_that_nobody_can_be_asked() -> None:
    user = User(UserUnavailable())
    with pytest.raises(UserUnavailable):
        ask(user)
    assert user.notices == []


def test_a_question_that_cannot_be_shown_stops_the_turn() -> None:
    user = User(ValueError("no terminal"))
    assert ask(user) == ApprovalReply(Outcome.STOP)
    assert user.notices == ["Internal error: ValueError."]


def test_a_question_that_is_withdrawn_makes_no_notice() -> None:
    user = User(YES, 60)

    async def main() -> None:
        session = Session()
        with answer_questions(cast("UiSession", session), user, user.notices.append):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(session.queue.ask(REQUEST), 0.01)
            assert session.pending_questions == ()

    asyncio.run(main())
    assert user.notices == []
