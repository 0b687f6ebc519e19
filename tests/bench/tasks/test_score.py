"""The table of a run."""

from bench.tasks.case import load_cases
from bench.tasks.score import NO_SANDBOX, format_score, passed_count

from tejat.batch.result import TaskFailure, TaskResult, TaskStatus

CASES = load_cases(["1", "2", "3"])


def test_score() -> None:
    results = {
        result.id: result
        for result in (
            TaskResult("01-failing-test", TaskStatus.PASSED, seconds=1.25, cost=0.5),
            TaskResult("02-similar-places", TaskStatus.FAILED, TaskFailure.LIMIT, seconds=900),
        )
    }
    assert list(format_score(CASES, results)) == [
        "passed   01-failing-test       1.2 s  A failing test whose bug is in another module",
        "failed   02-similar-places   900.0 s  One of several similar places (limit)",
        "not run  03-rename                    A rename over several files",
        "1/3  901 s of work, 0.50 dollars",
    ]
    assert passed_count(CASES, results) == 1


def test_no_sandbox() -> None:
    result = TaskResult("01-failing-test", TaskStatus.ERROR, TaskFailure.SANDBOX)
    assert list(format_score(CASES, {result.id: result}))[-1] == NO_SANDBOX
