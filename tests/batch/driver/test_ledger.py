"""States and sums of tasks."""

from tejat.batch.driver.ledger import TaskLedger, TaskState
from tejat.batch.result import TaskResult, TaskStatus


def test_results_are_counted() -> None:
    ledger = TaskLedger(4)
    ledger.add_result(1, TaskResult("b", TaskStatus.FAILED, tokens=4))
    ledger.add_result(2, TaskResult("c", TaskStatus.SKIPPED))
    ledger.set_state(3, TaskState.STARTED)
    assert ledger.counts == {"passed": 0, "failed": 1, "error": 0, "skipped": 1}
    assert (ledger.unfinished, ledger.unknown_costs) == (2, 1)
    assert list(ledger.indexes(TaskState.WAITING, TaskState.STARTED)) == [0, 3]
    assert [ledger.state(index) for index in (1, 2)] == [TaskState.DONE, TaskState.SKIPPED]


def test_a_shard() -> None:
    ledger = TaskLedger(5, (1, 2))
    assert (ledger.total, ledger.unfinished) == (2, 2)
    assert list(ledger.indexes(TaskState.WAITING)) == [1, 3]
