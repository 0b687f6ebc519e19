"""Results of batches that never ran."""

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from tejat.batch.result import TaskFailure, TaskResult, TaskStatus

FAILURES = {
    TaskStatus.PASSED: (TaskFailure.NONE,),
    TaskStatus.FAILED: (TaskFailure.CHECK_FAILED, TaskFailure.NO_CHANGES, TaskFailure.LIMIT),
    TaskStatus.ERROR: (TaskFailure.REPOSITORY, TaskFailure.SERVICE),
    TaskStatus.SKIPPED: (TaskFailure.BATCH_LIMIT,),
}


def passed(task_id: str = "t", **fields: object) -> TaskResult:
    usual: dict[str, object] = {"cost": 0.02, "tokens": 2000, "seconds": 12.0, "lines_added": 10, "lines_removed": 2}
    return TaskResult(task_id, TaskStatus.PASSED, **{**usual, **fields})  # pyright: ignore[reportArgumentType]


def failed(task_id: str = "t", **fields: object) -> TaskResult:
    usual: dict[str, object] = {"failure": TaskFailure.CHECK_FAILED, "check_exit_code": 1, "cost": 0.03, "seconds": 9.0}
    return TaskResult(task_id, TaskStatus.FAILED, **{"tokens": 900, **usual, **fields})  # pyright: ignore[reportArgumentType]


def errored(task_id: str = "t", message: str = "No such repository: /src/x.") -> TaskResult:
    return TaskResult(task_id, TaskStatus.ERROR, TaskFailure.REPOSITORY, message)


def skipped(task_id: str = "t") -> TaskResult:
    return TaskResult(task_id, TaskStatus.SKIPPED, TaskFailure.BATCH_LIMIT, "The batch reached its limit of $10.")


def many_results(count: int, seed: int = 1, *, rate: float = 0.7) -> Iterator[TaskResult]:
    """Results of all kinds, the same for the same seed."""
    chosen = random.Random(seed)
    for number in range(count):
        task_id = f"task-{number:05d}"
        seconds = chosen.lognormvariate(4, 0.8)
        shared = {"model": f"model-{number % 2}", "repo": f"/src/project-{number % 13}", "seconds": seconds}
        if chosen.random() < rate:
            yield passed(task_id, **shared, cost=seconds / 1000)
        elif chosen.random() < 0.6:
            yield failed(task_id, **shared)
        else:
            yield chosen.choice((errored(task_id), skipped(task_id)))


@st.composite
def results(draw: st.DrawFn) -> TaskResult:
    """Any result: hostile texts, zeros, large numbers, unknown prices."""
    status = draw(st.sampled_from(TaskStatus))
    return TaskResult(
        draw(st.text(min_size=1, max_size=60)),
        status,
        draw(st.sampled_from(FAILURES[status])),
        draw(st.text(max_size=200)) if status is not TaskStatus.PASSED else "",
        check_exit_code=draw(st.none() | st.integers(0, 255)),
        cost=draw(st.none() | st.floats(0, 1e4)),
        tokens=draw(st.integers(0, 10**9)),
        seconds=draw(st.floats(0, 1e6)),
        lines_added=draw(st.integers(0, 10**6)),
        model=draw(st.text(max_size=20)),
        repo=draw(st.text(max_size=40)),
    )
