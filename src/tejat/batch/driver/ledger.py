"""The state of every task, in one byte each."""

from collections.abc import Iterator
from enum import IntEnum

from tejat.batch.result import TaskResult, TaskStatus


class TaskState(IntEnum):
    """Where a task stands."""

    WAITING = 0
    STARTED = 1
    DONE = 2
    SKIPPED = 3
    REDONE = 4
    """It had a result, which is to be replaced."""
    FOREIGN = 5
    """It belongs to another shard."""


class TaskLedger:
    """States and sums. It holds no results, so its size hardly depends on the number of tasks."""

    def __init__(self, total: int, shard: tuple[int, int] | None = None) -> None:
        self._states = bytearray(total)
        self.total = total
        """The tasks of this shard."""
        self.counts: dict[str, int] = {status.value: 0 for status in TaskStatus}
        self.unknown_costs = 0
        if shard is not None:
            first, step = shard
            foreign = [index for index in range(total) if index % step != first]
            for index in foreign:
                self._states[index] = TaskState.FOREIGN
            self.total -= len(foreign)

    def state(self, index: int) -> TaskState:
        return TaskState(self._states[index])

    def set_state(self, index: int, state: TaskState) -> None:
        self._states[index] = state

    def add_result(self, index: int, result: TaskResult) -> None:
        """Count a result."""
        self._states[index] = TaskState.SKIPPED if result.status is TaskStatus.SKIPPED else TaskState.DONE
        self.counts[result.status.value] += 1
        self.unknown_costs += result.cost is None and result.tokens > 0

    @property
    def unfinished(self) -> int:
        """How many tasks of this shard have no result."""
        return self.total - sum(self.counts.values())

    def indexes(self, *states: TaskState) -> Iterator[int]:
        """The tasks in one of these states, in their order."""
        return (index for index, state in enumerate(self._states) if state in states)
