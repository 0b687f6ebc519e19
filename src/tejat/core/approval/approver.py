"""Approvers as callers give them: an object with `ask`, or a plain function, synchronous or not."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.errors import ApproverFailure, ToolFailure

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import Approver

ApprovalAnswer: TypeAlias = ApprovalReply | Outcome | bool
"""What an approver may return: True is `PROCEED_ONCE` and False is `CANCEL`."""

AskFunction: TypeAlias = Callable[[ApprovalRequest], object]


class _AsksUser(Protocol):
    def ask(self, question: ApprovalRequest, /) -> ApprovalAnswer | Awaitable[ApprovalAnswer]: ...


ApproverLike: TypeAlias = _AsksUser | Callable[[ApprovalRequest], ApprovalAnswer | Awaitable[ApprovalAnswer]]
"""An object with the method `ask`, or a function. Both take the request and may be `async`."""


def as_approver(given: ApproverLike | None) -> Approver | None:
    """Make an `Approver` of what a caller gave. Raises TypeError if it cannot answer questions.

    A function that is not `async` is called in the event loop, which waits for it. Whatever it raises comes out as
    `ApproverFailure`, except ToolFailure (also `UserUnavailable`), which refuses the call and is reported to the model.
    """
    if isinstance(given, _ApproverAdapter):
        return given
    ask = ask_function(given)
    return None if ask is None else _ApproverAdapter(ask)


def ask_function(given: object) -> AskFunction | None:
    """Find the function that answers a question: `given.ask`, or `given` itself. Raises TypeError.

    It returns an `ApprovalAnswer` or an awaitable of one, as far as its author kept to the types.
    """
    if given is None:
        return None
    if isinstance(given, type):
        raise TypeError(f"The approver is the class {given.__name__}. Pass an instance: approver={given.__name__}().")
    ask = getattr(given, "ask", given)
    if not callable(ask):
        raise TypeError(f"The approver {given!r} has no method `ask` and is not a function.")
    if not takes_arguments(ask, 1):
        raise TypeError(f"The approver {given!r} must take one argument, the ApprovalRequest.")
    return ask


def as_reply(answer: object) -> ApprovalReply:
    """Make a reply of an answer. Raises TypeError for anything but an `ApprovalAnswer`."""
    if isinstance(answer, ApprovalReply):
        from tejat.core.messages.value_check import check_value

        check_value(answer)
        return answer
    if isinstance(answer, Outcome):
        return ApprovalReply(answer)
    if isinstance(answer, bool):
        return ApprovalReply(Outcome.PROCEED_ONCE if answer else Outcome.CANCEL)
    raise TypeError(f"The approver returned {answer!r}. It must return an ApprovalReply, an Outcome, True or False.")


class _ApproverAdapter:
    """An approver around a function."""

    def __init__(self, ask: AskFunction) -> None:
        self._ask = ask

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        try:
            answer = self._ask(question)
            while isinstance(answer, Awaitable):
                answer = await cast("Awaitable[object]", answer)
            return as_reply(answer)
        except (ToolFailure, ApproverFailure):
            raise
        except Exception as error:
            raise ApproverFailure(error) from error


def takes_arguments(function: Callable[..., object], count: int) -> bool:
    """Whether a function can be called with this number of positional arguments, as far as its signature shows."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
