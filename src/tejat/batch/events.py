"""Events of a batch. Progress, the event file and `-o stream-json` are listeners of the same ones."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tejat.batch.result import TaskResult
from tejat.core.frozen import Frozen, field
from tejat.core.text.str_enum import StrEnum


class TaskPhase(StrEnum):
    """What a running task does."""

    QUEUED = "queued"
    """It waits at the engine for a place to run."""
    PREPARING = "preparing"
    RUNNING = "running"
    CHECKING = "checking"
    RECORDING = "recording"


class BatchStarted(Frozen):
    """The batch begins. `finished` are the tasks of `total` that an earlier run did, by status."""

    total: int
    finished: Mapping[str, int] = field(default_factory=dict[str, int])
    spent_cost: float = 0.0
    spent_tokens: int = 0
    jobs: int = 1
    engine: str = "local"


class TaskStarted(Frozen):
    """An attempt at a task begins."""

    id: str
    attempt: int
    node: str = ""


class TaskProgressed(Frozen):
    """A running task is in another phase, or did something: `activity` is one line, such as the tool it calls."""

    id: str
    phase: TaskPhase
    activity: str = ""
    tokens: int = 0


class TaskRetried(Frozen):
    """An attempt failed in a way that may pass. The next one begins in `wait_seconds` at the earliest."""

    id: str
    attempt: int
    reason: str
    wait_seconds: float


class TaskEnded(Frozen):
    """A task has its result."""

    result: TaskResult


class BatchNoticed(Frozen):
    """Something that the user should know."""

    message: str


class BatchEnded(Frozen):
    """The batch ends. `reason` is empty if all tasks have a result, else why it stopped."""

    counts: Mapping[str, int]
    cost: float
    tokens: int
    seconds: float
    reason: str = ""
    unknown_costs: int = 0
    """Tasks whose price is unknown: the cost is without them."""
    is_limit: bool = False
    """Whether a limit of the batch is the reason."""


BatchEvent: TypeAlias = (
    BatchStarted | TaskStarted | TaskProgressed | TaskRetried | TaskEnded | BatchNoticed | BatchEnded
)
BatchListener: TypeAlias = Callable[[BatchEvent], None]
