"""Values of a plan: defaults from flags, records of task files, and tasks that cannot run."""

from collections.abc import Mapping

from tejat.batch.result import TaskFailure
from tejat.batch.task import TaskLimits
from tejat.core.approval.modes import ApprovalMode, SandboxMode
from tejat.core.frozen import Frozen, field


class TaskDefaults(Frozen):
    """Fields for tasks that do not set them, as flags give them. `prompt` is a template, empty for none."""

    prompt: str = ""
    model: str | None = None
    limits: TaskLimits = field(default_factory=TaskLimits)
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    approval_mode: str = ApprovalMode.AUTO_EDIT.value
    sandbox: str = SandboxMode.REQUIRED.value
    trusts_folder: bool = False
    check: str = ""
    check_seconds: float = 600.0
    allows_no_changes: bool = False
    allows_dirty: bool = False
    commit: str = ""


class RejectedTask(Frozen):
    """A task that cannot run. `message` says why, `source` where it comes from, such as `tasks.jsonl:7`."""

    id: str
    failure: TaskFailure
    message: str
    source: str = ""


class TaskRecord(Frozen):
    """The fields of one task as a file has them, not checked yet. `fallback_id` is the id of a task without one."""

    values: Mapping[str, object]
    fallback_id: str
    source: str


class InvalidTask(Exception):
    """A task that cannot run. The message says why."""

    def __init__(self, message: str, failure: TaskFailure = TaskFailure.INPUT) -> None:
        super().__init__(message)
        self.failure = failure
