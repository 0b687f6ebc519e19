"""Cancellation of a tool call, as the tool sees it."""

from collections.abc import Callable
from typing import Protocol

from tejat.core.text.str_enum import StrEnum


class CancelReason(StrEnum):
    """Why a call ended early."""

    CANCELLED = "cancelled"
    """Whoever waits for it does not want it any more."""
    TIME_LIMIT = "time_limit"
    """The time limit of the call or of the run was reached."""


class CancellableTask(Protocol):
    """The part of an asyncio task that says how often it was cancelled."""

    def cancelling(self) -> int: ...


def always_cancelled() -> CancelReason:
    """The reason where no time is limited."""
    return CancelReason.CANCELLED


def inner_cancellation(error: BaseException, task: CancellableTask | None, what: str = "it") -> RuntimeError:
    """The failure of a function that awaited something cancelled.

    A cancelled task or future raises CancelledError where it is awaited, as if the awaiting task had been cancelled.
    Raises `error` if that is so: `task` is the one that runs the function.
    """
    if task is None or task.cancelling():
        raise error
    failure = RuntimeError(f"{what} was cancelled from within")
    failure.__cause__ = error
    return failure


class CancelSignal:
    """Whether a call was cancelled, and why. Any thread may read it. `find_reason` is asked once it was."""

    __slots__ = ("_baseline", "_find_reason", "_is_late", "_is_set", "_task")

    def __init__(self, find_reason: Callable[[], CancelReason] = always_cancelled) -> None:
        self._find_reason = find_reason
        self._is_set = False
        self._is_late: Callable[[], bool] = lambda: False
        self._task: CancellableTask | None = None
        self._baseline = 0

    @property
    def is_set(self) -> bool:
        task = self._task
        return self._is_set or (task is not None and task.cancelling() > self._baseline)

    @property
    def reason(self) -> CancelReason | None:
        """Why the call was cancelled, None as long as it was not."""
        if not self.is_set:
            return None
        return CancelReason.TIME_LIMIT if self._is_late() else self._find_reason()

    def set(self) -> None:
        self._is_set = True

    def watch(self, task: CancellableTask | None) -> None:
        """Follow the task of the call: the signal is set as soon as somebody cancels the task.

        Cancellations from before are not counted: a task may have survived them.
        """
        self._task = task
        self._baseline = 0 if task is None else task.cancelling()

    def watch_limit(self, is_late: Callable[[], bool]) -> None:
        """Follow a time limit of the call itself. `is_late` says whether it was reached."""
        self._is_late = is_late
