"""The outcome of a task, judged from how its run and its check ended."""

from tejat.batch.git.patch import PatchSummary
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.task import BatchTask
from tejat.core import exit_codes as codes
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import _, ngettext

_TRANSIENT_CODES = frozenset(
    {codes.EXIT_RATE_LIMITED, codes.EXIT_UNAVAILABLE, codes.EXIT_NO_CONNECTION, codes.EXIT_TIMED_OUT}
)


class RunReport(Frozen):
    """How the run of the agent ended.

    `error_type` and `message` are those of the error in its result, empty without one. `denials` are the reasons of
    the refused calls. `cost` is None if a price is unknown.
    """

    exit_code: int
    error_type: str = ""
    message: str = ""
    denials: tuple[str, ...] = field(default_factory=tuple[str, ...])
    tool_calls: int = 0
    tokens: int = 0
    cost: float | None = None
    model: str = ""
    is_disk_full: bool = False


class CheckReport(Frozen):
    """How the check of a task ended.

    `exit_code` is 128 plus the number of a signal that ended it, and None if it ran out of time or did not start; then
    `problem` says why.
    """

    exit_code: int | None
    seconds: float = 0.0
    is_timed_out: bool = False
    problem: str = ""
    is_sandbox_missing: bool = False
    warnings: tuple[str, ...] = field(default_factory=tuple[str, ...])


class Verdict(Frozen):
    """The status of a task, why it did not pass, and a sentence about it."""

    status: TaskStatus
    failure: TaskFailure = TaskFailure.NONE
    message: str = ""


_PASSED = Verdict(TaskStatus.PASSED)


def judge_run(run: RunReport) -> Verdict:
    """Judge the run alone: passed if it ended well."""
    if run.exit_code == codes.EXIT_OK:
        return _PASSED
    message = run.message or _("The run ended with exit code {code}.", code=run.exit_code)
    if run.is_disk_full:
        return Verdict(TaskStatus.ERROR, TaskFailure.DISK_FULL, message)
    failure = _FAILURE_BY_TYPE.get(run.error_type) or _FAILURE_BY_CODE.get(run.exit_code, TaskFailure.INTERNAL)
    is_failed = failure in (TaskFailure.LIMIT, TaskFailure.MODEL)
    return Verdict(TaskStatus.FAILED if is_failed else TaskStatus.ERROR, failure, message)


def judge_task(task: BatchTask, run: RunReport, patch: PatchSummary, check: CheckReport | None) -> Verdict:
    """Judge a task. A check decides alone, unless the run was an error."""
    verdict = judge_run(run)
    if verdict.status is TaskStatus.ERROR:
        return verdict
    if check is not None:
        checked = _judge_check(task, check)
        is_plain = verdict.status is TaskStatus.PASSED or checked.status is TaskStatus.PASSED
        return checked if is_plain else replace(checked, message=f"{checked.message} {verdict.message}")
    if verdict.status is TaskStatus.PASSED and patch.is_empty and not task.allows_no_changes:
        return Verdict(TaskStatus.FAILED, TaskFailure.NO_CHANGES, _explain_no_changes(run))
    return verdict


def is_transient(result: TaskResult) -> bool:
    """Whether another attempt may succeed: the service was rate limited, overloaded, unreachable or too slow."""
    return result.failure is TaskFailure.SERVICE and result.exit_code in _TRANSIENT_CODES


def _judge_check(task: BatchTask, check: CheckReport) -> Verdict:
    if check.is_timed_out:
        message = _("The check took longer than {seconds:g} seconds.", seconds=task.check_seconds)
        return Verdict(TaskStatus.FAILED, TaskFailure.CHECK_TIMED_OUT, message)
    if check.exit_code is None:
        failure = TaskFailure.SANDBOX if check.is_sandbox_missing else TaskFailure.INTERNAL
        return Verdict(TaskStatus.ERROR, failure, _("The check could not run: {reason}", reason=check.problem))
    if check.exit_code != 0:
        message = _("The check ended with exit code {code}.", code=check.exit_code)
        return Verdict(TaskStatus.FAILED, TaskFailure.CHECK_FAILED, message)
    return _PASSED


def _explain_no_changes(run: RunReport) -> str:
    message = _("The run changed nothing.")
    if not run.denials:
        return message
    refused = ngettext(
        "{count} tool call was refused: {reason}",
        "{count} tool calls were refused. The first: {reason}",
        len(run.denials),
        reason=run.denials[0],
    )
    return f"{message} {refused}"


_FAILURE_BY_TYPE = {
    "no_space_left": TaskFailure.DISK_FULL,
    "bad_request": TaskFailure.SERVICE,
    "protocol": TaskFailure.SERVICE,
    # The script plays the model.
    "script": TaskFailure.MODEL,
}

_FAILURE_BY_CODE = {
    codes.EXIT_NOT_CONFIRMED: TaskFailure.CONFIGURATION,
    codes.EXIT_AUTHENTICATION: TaskFailure.AUTHENTICATION,
    codes.EXIT_INPUT: TaskFailure.CONFIGURATION,
    codes.EXIT_NO_SANDBOX: TaskFailure.SANDBOX,
    codes.EXIT_CONFIGURATION: TaskFailure.CONFIGURATION,
    codes.EXIT_LIMIT: TaskFailure.LIMIT,
    codes.EXIT_NOT_TRUSTED: TaskFailure.CONFIGURATION,
    **dict.fromkeys(_TRANSIENT_CODES, TaskFailure.SERVICE),
    codes.EXIT_BLOCKED: TaskFailure.MODEL,
    codes.EXIT_EMPTY: TaskFailure.MODEL,
    codes.EXIT_MALFORMED_CALL: TaskFailure.MODEL,
    codes.EXIT_LOOP: TaskFailure.MODEL,
}
