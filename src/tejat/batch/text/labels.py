"""Words for the states of tasks, the kinds of failures and the phases of a run."""

from collections.abc import Mapping

from tejat.batch.events import TaskPhase
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.ui.report import Tone
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.shared.labels.run_summary import format_cost

_STATUS_LABELS = {
    TaskStatus.PASSED: lazy("passed"),
    TaskStatus.FAILED: lazy("failed"),
    TaskStatus.ERROR: lazy("error"),
    TaskStatus.SKIPPED: lazy("skipped"),
}
STATUS_TONES = {
    TaskStatus.PASSED: Tone.GOOD,
    TaskStatus.FAILED: Tone.BAD,
    TaskStatus.ERROR: Tone.WARNING,
    TaskStatus.SKIPPED: Tone.QUIET,
}
STATUS_ORDER = tuple(TaskStatus)
"""The order in which states are listed."""
_FAILURE_LABELS = {
    TaskFailure.NONE: "",
    TaskFailure.CHECK_FAILED: lazy("check failed"),
    TaskFailure.CHECK_TIMED_OUT: lazy("check timed out"),
    TaskFailure.NO_CHANGES: lazy("no changes"),
    TaskFailure.LIMIT: lazy("task limit reached"),
    TaskFailure.MODEL: lazy("no usable answer"),
    TaskFailure.INPUT: lazy("invalid task"),
    TaskFailure.DUPLICATE_ID: lazy("duplicate id"),
    TaskFailure.REPOSITORY: lazy("repository not usable"),
    TaskFailure.DIRTY: lazy("uncommitted changes"),
    TaskFailure.AUTHENTICATION: lazy("authentication failed"),
    TaskFailure.SERVICE: lazy("service unavailable"),
    TaskFailure.SANDBOX: lazy("no sandbox"),
    TaskFailure.CONFIGURATION: lazy("invalid configuration"),
    TaskFailure.DISK_FULL: lazy("disk full"),
    TaskFailure.LOST: lazy("process lost"),
    TaskFailure.INTERNAL: lazy("internal error"),
    TaskFailure.BATCH_LIMIT: lazy("batch limit reached"),
}
_PHASE_LABELS = {
    TaskPhase.QUEUED: lazy("queued"),
    TaskPhase.PREPARING: lazy("preparing"),
    TaskPhase.RUNNING: lazy("running"),
    TaskPhase.CHECKING: lazy("checking"),
    TaskPhase.RECORDING: lazy("recording"),
}
_SELF_EXPLANATORY = frozenset({TaskFailure.CHECK_FAILED, TaskFailure.CHECK_TIMED_OUT, TaskFailure.NO_CHANGES})


def status_label(status: TaskStatus) -> str:
    return translate(_STATUS_LABELS[status])


def failure_label(failure: TaskFailure) -> str:
    return translate(_FAILURE_LABELS[failure])


def phase_label(phase: TaskPhase) -> str:
    return translate(_PHASE_LABELS[phase])


def reason_label(result: TaskResult) -> str:
    """Why a task did not pass, in a few words."""
    if result.failure is TaskFailure.CHECK_FAILED and result.check_exit_code is not None:
        return _("check failed (exit {code})", code=result.check_exit_code)
    return failure_label(result.failure)


def reason_detail(result: TaskResult) -> str:
    """The message of a task that did not pass, empty if `reason_label` says it all. Not sanitized."""
    return "" if result.failure in _SELF_EXPLANATORY else translate(result.message)


def reason_line(result: TaskResult) -> str:
    """Why a task did not pass. Not sanitized."""
    return reason_detail(result) or reason_label(result)


def count_labels(counts: Mapping[TaskStatus, int]) -> dict[TaskStatus, str]:
    """`30 passed`, `5 failed` and so on, for the states that occur."""
    labels = {
        TaskStatus.PASSED: _("{count} passed", count=f"{counts.get(TaskStatus.PASSED, 0):,}"),
        TaskStatus.FAILED: _("{count} failed", count=f"{counts.get(TaskStatus.FAILED, 0):,}"),
        TaskStatus.ERROR: ngettext("{count} error", "{count} errors", counts.get(TaskStatus.ERROR, 0)),
        TaskStatus.SKIPPED: _("{count} skipped", count=f"{counts.get(TaskStatus.SKIPPED, 0):,}"),
    }
    return {status: labels[status] for status in STATUS_ORDER if counts.get(status)}


def time_label(seconds: float) -> str:
    return format_duration(seconds) if seconds else _("{seconds} s", seconds=0)


def cost_label(cost: float | None) -> str:
    return "?" if cost is None else format_cost(cost)


def lines_label(added: int, removed: int) -> str:
    """`+10 -2`, empty without changes."""
    return f"+{added:,} -{removed:,}" if added or removed else ""


def is_cost_unknown(result: TaskResult) -> bool:
    """Whether the task used a model whose price is unknown. A task that never ran cost nothing."""
    return result.cost is None and result.tokens > 0
