"""The outcome of a task by how its run and its check ended."""

import pytest

from tejat.batch.git.patch import PatchSummary
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.runner.outcome import CheckReport, RunReport, Verdict, is_transient, judge_run, judge_task
from tejat.batch.task import BatchTask
from tejat.core.frozen import replace

TASK = BatchTask("one", "/repo", "Do it.")
CHANGED = PatchSummary(1, 2, 3)
UNCHANGED = PatchSummary(0, 0, 0)


@pytest.mark.parametrize(
    ("code", "kind", "status", "failure"),
    [
        (0, "", TaskStatus.PASSED, TaskFailure.NONE),
        (1, "failed", TaskStatus.ERROR, TaskFailure.INTERNAL),
        (1, "bad_request", TaskStatus.ERROR, TaskFailure.SERVICE),
        (1, "protocol", TaskStatus.ERROR, TaskFailure.SERVICE),
        (1, "script", TaskStatus.FAILED, TaskFailure.MODEL),
        (3, "not_allowed", TaskStatus.ERROR, TaskFailure.CONFIGURATION),
        (41, "authentication", TaskStatus.ERROR, TaskFailure.AUTHENTICATION),
        (42, "input", TaskStatus.ERROR, TaskFailure.CONFIGURATION),
        (44, "sandbox", TaskStatus.ERROR, TaskFailure.SANDBOX),
        (52, "configuration", TaskStatus.ERROR, TaskFailure.CONFIGURATION),
        (53, "turn_limit", TaskStatus.FAILED, TaskFailure.LIMIT),
        (54, "tool_stopped", TaskStatus.ERROR, TaskFailure.INTERNAL),
        (55, "untrusted", TaskStatus.ERROR, TaskFailure.CONFIGURATION),
        (60, "rate_limited", TaskStatus.ERROR, TaskFailure.SERVICE),
        (61, "unavailable", TaskStatus.ERROR, TaskFailure.SERVICE),
        (62, "network", TaskStatus.ERROR, TaskFailure.SERVICE),
        (63, "timed_out", TaskStatus.ERROR, TaskFailure.SERVICE),
        (64, "blocked", TaskStatus.FAILED, TaskFailure.MODEL),
        (65, "empty", TaskStatus.FAILED, TaskFailure.MODEL),
        (66, "malformed_call", TaskStatus.FAILED, TaskFailure.MODEL),
        (67, "loop", TaskStatus.FAILED, TaskFailure.MODEL),
        (99, "", TaskStatus.ERROR, TaskFailure.INTERNAL),
    ],
)
def test_exit_codes(code: int, kind: str, status: TaskStatus, failure: TaskFailure) -> None:
    verdict = judge_run(RunReport(code, error_type=kind, message="Why."))
    assert (verdict.status, verdict.failure) == (status, failure)


def test_a_full_disk_is_named() -> None:
    verdict = judge_run(RunReport(54, error_type="tool_stopped", message="Why.", is_disk_full=True))
    assert verdict == Verdict(TaskStatus.ERROR, TaskFailure.DISK_FULL, "Why.")


def test_a_run_without_a_result_has_a_message() -> None:
    assert judge_run(RunReport(1)).message == "The run ended with exit code 1."


class TestWithoutCheck:
    def test_changes_pass(self) -> None:
        assert judge_task(TASK, RunReport(0), CHANGED, None) == Verdict(TaskStatus.PASSED)

    def test_no_changes_fail(self) -> None:
        expected = Verdict(TaskStatus.FAILED, TaskFailure.NO_CHANGES, "The run changed nothing.")
        assert judge_task(TASK, RunReport(0), UNCHANGED, None) == expected

    def test_no_changes_pass_if_they_are_allowed(self) -> None:
        task = replace(TASK, allows_no_changes=True)
        assert judge_task(task, RunReport(0), UNCHANGED, None).status is TaskStatus.PASSED

    def test_refused_calls_are_counted(self) -> None:
        run = RunReport(0, denials=("No rule allows this.", "Nor this."))
        message = judge_task(TASK, run, UNCHANGED, None).message
        assert message == "The run changed nothing. 2 tool calls were refused. The first: No rule allows this."
        message = judge_task(TASK, replace(run, denials=("No.",)), UNCHANGED, None).message
        assert message == "The run changed nothing. 1 tool call was refused: No."

    def test_a_limit_fails_even_with_changes(self) -> None:
        verdict = judge_task(TASK, RunReport(53, error_type="turn_limit", message="Limit."), CHANGED, None)
        assert verdict == Verdict(TaskStatus.FAILED, TaskFailure.LIMIT, "Limit.")


class TestWithCheck:
    @pytest.mark.parametrize("patch", [CHANGED, UNCHANGED])
    @pytest.mark.parametrize("code", [0, 53, 65])
    def test_it_decides_alone(self, patch: PatchSummary, code: int) -> None:
        assert judge_task(TASK, RunReport(code), patch, CheckReport(0)) == Verdict(TaskStatus.PASSED)

    def test_it_fails(self) -> None:
        expected = Verdict(TaskStatus.FAILED, TaskFailure.CHECK_FAILED, "The check ended with exit code 7.")
        assert judge_task(TASK, RunReport(0), CHANGED, CheckReport(7)) == expected

    def test_it_fails_after_a_limit(self) -> None:
        run = RunReport(53, error_type="turn_limit", message="The limit of 3 turns was reached.")
        verdict = judge_task(TASK, run, CHANGED, CheckReport(1))
        assert verdict.failure is TaskFailure.CHECK_FAILED
        assert verdict.message == "The check ended with exit code 1. The limit of 3 turns was reached."

    def test_it_takes_too_long(self) -> None:
        task = replace(TASK, check_seconds=2.5)
        verdict = judge_task(task, RunReport(0), CHANGED, CheckReport(None, is_timed_out=True))
        expected = (TaskStatus.FAILED, TaskFailure.CHECK_TIMED_OUT, "The check took longer than 2.5 seconds.")
        assert (verdict.status, verdict.failure, verdict.message) == expected

    @pytest.mark.parametrize(
        ("is_sandbox_missing", "failure"), [(True, TaskFailure.SANDBOX), (False, TaskFailure.INTERNAL)]
    )
    def test_it_does_not_start(self, is_sandbox_missing: bool, failure: TaskFailure) -> None:
        check = CheckReport(None, problem="No bash.", is_sandbox_missing=is_sandbox_missing)
        verdict = judge_task(TASK, RunReport(0), CHANGED, check)
        assert verdict == Verdict(TaskStatus.ERROR, failure, "The check could not run: No bash.")

    def test_an_error_stays_one(self) -> None:
        verdict = judge_task(TASK, RunReport(41, message="No key."), CHANGED, CheckReport(0))
        assert verdict == Verdict(TaskStatus.ERROR, TaskFailure.AUTHENTICATION, "No key.")


@pytest.mark.parametrize(
    ("failure", "code", "expected"),
    [
        (TaskFailure.SERVICE, 60, True),
        (TaskFailure.SERVICE, 63, True),
        (TaskFailure.SERVICE, 1, False),
        (TaskFailure.AUTHENTICATION, 41, False),
        (TaskFailure.LIMIT, 53, False),
        (TaskFailure.REPOSITORY, None, False),
    ],
)
def test_transient_failures(failure: TaskFailure, code: int | None, expected: bool) -> None:
    assert is_transient(TaskResult("one", TaskStatus.ERROR, failure, exit_code=code)) is expected
