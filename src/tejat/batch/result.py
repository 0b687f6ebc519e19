"""The result of a task: a line of `results.jsonl`."""

from typing import Any

from tejat.core.frozen import Frozen, field, fields_of
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum


class TaskStatus(StrEnum):
    """How a task ended.

    `passed` and `failed` judge what the agent did. `error` means that the task could not be tried: a repository that is
    missing, a service that does not answer. `skipped` means that the batch ended before the task started.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


class TaskFailure(StrEnum):
    """Why a task did not pass. Empty for one that did."""

    NONE = ""
    # The task failed.
    CHECK_FAILED = "check_failed"
    CHECK_TIMED_OUT = "check_timed_out"
    NO_CHANGES = "no_changes"
    LIMIT = "limit"
    """The run reached a limit of its own."""
    MODEL = "model"
    """The model gave no usable answer: blocked, empty, malformed or stuck in a loop."""
    # The task could not be tried.
    INPUT = "input"
    """A wrong line of the task file."""
    DUPLICATE_ID = "duplicate_id"
    REPOSITORY = "repository"
    """It is missing, is not a git repository, or has no such commit."""
    DIRTY = "dirty"
    AUTHENTICATION = "authentication"
    SERVICE = "service"
    """Rate limited, overloaded, unreachable or too slow, after all retries."""
    SANDBOX = "sandbox"
    CONFIGURATION = "configuration"
    DISK_FULL = "disk_full"
    LOST = "lost"
    """The process or the machine that ran the task ended, several times."""
    INTERNAL = "internal"
    # The task did not start.
    BATCH_LIMIT = "batch_limit"


class TaskResult(Frozen):
    """The result of a task.

    `exit_code` is that of the run, None if there was none; `check_exit_code` that of the check. `cost` is in dollars,
    None if a price is unknown. `seconds` is the time of the whole task in its last attempt, `run_seconds` that of the
    agent and `check_seconds` that of the check. `patch` is the path of the patch relative to the directory of the
    batch, empty without changes. `denied_calls` counts the calls that no rule allowed. `attempts` counts the starts.
    `node` is the machine that ran the task. `directory` is the folder of the task, relative to that of the batch.
    """

    id: str
    status: TaskStatus
    failure: TaskFailure = TaskFailure.NONE
    message: str = ""
    exit_code: int | None = None
    check_exit_code: int | None = None
    cost: float | None = None
    tokens: int = 0
    seconds: float = 0.0
    run_seconds: float = 0.0
    check_seconds: float = 0.0
    patch: str = ""
    files_changed: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    tool_calls: int = 0
    denied_calls: int = 0
    attempts: int = 1
    model: str = ""
    repo: str = ""
    commit: str = ""
    node: str = ""
    directory: str = ""
    started: float = 0.0
    ended: float = 0.0
    warnings: tuple[str, ...] = field(default_factory=tuple[str, ...])


def result_to_json(result: TaskResult) -> JsonObject:
    """The result as a JSON object, in the order of the fields."""
    values = {each.name: getattr(result, each.name) for each in fields_of(TaskResult)}
    words = {"status": result.status.value, "failure": result.failure.value}
    return {**values, **words, "warnings": list(result.warnings)}


def result_from_json(found: JsonObject) -> TaskResult:
    """The result of an object that `result_to_json` made. Raises KeyError, TypeError or ValueError for any other."""
    values: dict[str, Any] = dict(found)
    values["status"], values["failure"] = TaskStatus(values["status"]), TaskFailure(values["failure"])
    values["warnings"] = tuple(values["warnings"])
    return TaskResult(**values)
