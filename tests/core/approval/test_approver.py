"""Approvers of every form that callers may give."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from tejat.core.approval.approver import ApproverLike, as_approver, as_reply, ask_function
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ApproverFailure, ErrorType, ToolFailure

QUESTION = ApprovalRequest(InfoConfirmation("Confirm", "anything"), "noted")
YES, NO = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL)


def answer(given: ApproverLike) -> ApprovalReply:
    approver = as_approver(given)
    assert approver is not None
    return asyncio.run(approver.ask(QUESTION))


class AsyncObject:
    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        assert question is QUESTION
        return YES


class PlainObject:
    def ask(self, asked: ApprovalRequest) -> bool:
        assert asked is QUESTION
        return False


async def async_function(question: ApprovalRequest) -> Outcome:
    await asyncio.sleep(0)
    return Outcome.STOP if question is QUESTION else Outcome.CANCEL


def awaitable_of_awaitable(_: ApprovalRequest) -> object:
    async def outer() -> object:
        return async_function(QUESTION)

    return outer()


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (AsyncObject(), YES),
        (PlainObject(), NO),
        (AsyncObject().ask, YES),
        (async_function, ApprovalReply(Outcome.STOP)),
        (lambda _: True, YES),
        (lambda _: False, NO),
        (lambda *_: Outcome.PROCEED_ALWAYS, ApprovalReply(Outcome.PROCEED_ALWAYS)),
        (lambda _, default=NO: default, NO),
        (partial(lambda given, _: given, YES), YES),
        (awaitable_of_awaitable, ApprovalReply(Outcome.STOP)),
    ],
)
def test_any_form_answers(given: ApproverLike, reply: ApprovalReply) -> None:
    assert answer(given) == reply


def test_no_approver_stays_none() -> None:
    assert as_approver(None) is None
    assert ask_function(None) is None


def test_an_approver_is_adapted_once() -> None:
    approver = as_approver(AsyncObject())
    assert as_approver(approver) is approver


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("yes", "'yes' has no method `ask` and is not a function"),
        (True, "True has no method `ask`"),
        (Outcome.PROCEED_ONCE, "has no method `ask`"),
        (AsyncObject, r"class AsyncObject. Pass an instance: approver=AsyncObject\(\)"),
        (lambda: True, "must take one argument"),
        (lambda question, more: True, "must take one argument"),  # noqa: ARG005
        (type("Odd", (), {"ask": "me"})(), "has no method `ask`"),
        (type("Odder", (), {"ask": lambda self: True})(), "must take one argument"),  # noqa: ARG005
    ],
)
def test_what_cannot_answer_is_refused_at_once(given: ApproverLike, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_approver(given)


def fail(error: Exception) -> Callable[[ApprovalRequest], bool]:
    def ask(_: ApprovalRequest) -> bool:
        raise error

    return ask


def test_an_exception_is_carried_with_its_traceback() -> None:
    error = KeyError("lost")
    with pytest.raises(ApproverFailure, match="lost") as raised:
        answer(fail(error))
    assert raised.value.error is error
    assert raised.value.__cause__ is error
    assert error.__traceback__ is not None


def test_an_exception_without_words_is_named() -> None:
    with pytest.raises(ApproverFailure, match="ZeroDivisionError"):
        answer(fail(ZeroDivisionError()))


@pytest.mark.parametrize("error", [UserUnavailable(), ToolFailure("not here", ErrorType.POLICY_VIOLATION)])
def test_a_failure_for_the_model_stays_one(error: ToolFailure) -> None:
    with pytest.raises(ToolFailure) as raised:
        answer(fail(error))
    assert raised.value is error


@pytest.mark.parametrize("wrong", [None, "proceed_once", 1, "yes"])
def test_any_other_answer_is_an_error_of_the_approver(wrong: object) -> None:
    with pytest.raises(TypeError, match="must return an ApprovalReply, an Outcome, True or False"):
        as_reply(wrong)
    with pytest.raises(ApproverFailure, match="The approver returned"):
        answer(lambda _: wrong)  # pyright: ignore[reportArgumentType]
