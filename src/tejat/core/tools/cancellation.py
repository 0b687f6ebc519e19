"""Cancellation of a tool call, as the tool sees it."""

from typing import Protocol


class CancellableTask(Protocol):
    """The part of an asyncio task that says how often it was cancelled."""

    def cancelling(self) -> int: ...


class CancelSignal:
    """Whether a call was cancelled or timed out. Any thread may read it."""

    __slots__ = ("_baseline", "_is_set", "_task")

    def __init__(self) -> None:
        self._is_set = False
        self._task: CancellableTask | None = None
        self._baseline = 0

    @property
    def is_set(self) -> bool:
        task = self._task
        return self._is_set or (task is not None and task.cancelling() > self._baseline)

    def set(self) -> None:
        self._is_set = True

    def watch(self, task: CancellableTask | None) -> None:
        """Follow the task of the call: the signal is set as soon as somebody cancels the task.

        Cancellations from before are not counted: a task may have survived them.
        """
        self._task = task
        self._baseline = 0 if task is None else task.cancelling()
