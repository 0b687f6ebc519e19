"""Running totals of a batch, counted from its events."""

from collections import Counter, deque

from tejat.batch.events import (
    BatchEnded,
    BatchEvent,
    BatchStarted,
    TaskEnded,
    TaskPhase,
    TaskProgressed,
    TaskRetried,
    TaskStarted,
)
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.text.labels import is_cost_unknown
from tejat.core.frozen import Frozen, replace

_MEASURED_TASKS = 50
_TASKS_FOR_ESTIMATE = 3


class RunningTask(Frozen):
    """A task that runs now. `started` is a time of the clock that the tally is given."""

    id: str
    started: float
    attempt: int = 1
    phase: TaskPhase = TaskPhase.PREPARING
    activity: str = ""
    tokens: int = 0


class BatchTally:
    """Totals of a batch. `now` is monotonic time in seconds."""

    def __init__(self, now: float) -> None:
        self.began = now
        self.total = 0
        self.jobs = 1
        self.counts: Counter[TaskStatus] = Counter()
        self.cost = 0.0
        self.unknown_costs = 0
        self.running: dict[str, RunningTask] = {}
        """By id, in the order of their start."""
        self.has_started = False
        self.ended: BatchEnded | None = None
        self._queued: dict[str, int] = {}
        """The attempts of tasks that an engine has, but does not run yet."""
        self._tokens = 0
        self._seconds: deque[float] = deque(maxlen=_MEASURED_TASKS)

    @property
    def done(self) -> int:
        return self.counts.total()

    @property
    def waiting(self) -> int:
        return max(self.total - self.done - len(self.running), 0)

    @property
    def tokens(self) -> int:
        """The tokens of finished tasks and of those that run."""
        return self._tokens + sum(task.tokens for task in self.running.values())

    def record(self, event: BatchEvent, now: float) -> None:
        match event:
            case BatchStarted():
                self.has_started = True
                self._start(event, now)
            case TaskStarted(task_id, attempt):
                self._remove(task_id)
                self.running[task_id] = RunningTask(task_id, now, attempt)
            case TaskProgressed():
                self._progress(event, now)
            case TaskRetried(task_id):
                self._remove(task_id)
            case TaskEnded(result):
                self._end(result)
            case BatchEnded():
                self.ended = event
                self.running.clear()
            case _:
                pass

    def seconds_left(self, now: float) -> float | None:
        """An estimate of the rest from the mean of the last tasks, None while there are too few of them."""
        if len(self._seconds) < _TASKS_FOR_ESTIMATE or self.done >= self.total:
            return None
        mean = sum(self._seconds) / len(self._seconds)
        begun = sum(max(mean - (now - task.started), 0.0) for task in self.running.values())
        return (mean * self.waiting + begun) / max(min(self.jobs, self.waiting + len(self.running)), 1)

    def _start(self, event: BatchStarted, now: float) -> None:
        self.began, self.total, self.jobs = now, event.total, max(event.jobs, 1)
        known = {status.value: status for status in TaskStatus}
        self.counts = Counter({known[name]: count for name, count in event.finished.items() if name in known})
        self.cost, self._tokens = event.spent_cost, event.spent_tokens

    def _progress(self, event: TaskProgressed, now: float) -> None:
        task = self.running.get(event.id)
        if event.phase is TaskPhase.QUEUED:
            if task is not None:
                self._queued[event.id] = self.running.pop(event.id).attempt
            return
        if event.id in self._queued:
            task = RunningTask(event.id, now, self._queued.pop(event.id))
        if task is not None:
            tokens = max(event.tokens, task.tokens)
            self.running[event.id] = replace(task, phase=event.phase, activity=event.activity, tokens=tokens)

    def _remove(self, task_id: str) -> bool:
        """Forget a task, and return whether it was there."""
        return self.running.pop(task_id, None) is not None or self._queued.pop(task_id, None) is not None

    def _end(self, result: TaskResult) -> None:
        if self._remove(result.id):
            self._seconds.append(result.seconds)
        self.counts[result.status] += 1
        self.cost += result.cost or 0.0
        self.unknown_costs += is_cost_unknown(result)
        self._tokens += result.tokens
