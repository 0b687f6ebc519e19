"""Totals from events: what runs, what waits, what is left."""

import pytest

from support.batch_results import errored, failed, passed
from tejat.batch.events import BatchEnded, BatchStarted, TaskEnded, TaskPhase, TaskProgressed, TaskRetried, TaskStarted
from tejat.batch.progress.tally import BatchTally
from tejat.batch.result import TaskStatus


def make_tally(total: int = 10, jobs: int = 2) -> BatchTally:
    tally = BatchTally(0.0)
    tally.record(BatchStarted(total, jobs=jobs), 0.0)
    return tally


def run_task(tally: BatchTally, task_id: str, seconds: float, now: float = 0.0) -> None:
    tally.record(TaskStarted(task_id, 1), now)
    tally.record(TaskEnded(passed(task_id, seconds=seconds)), now)


def test_a_resumed_batch_starts_with_what_was_done() -> None:
    tally = BatchTally(0.0)
    tally.record(BatchStarted(10, {"passed": 3, "error": 1, "of a newer version": 2}, 0.5, 100, jobs=2), 5.0)
    assert (tally.done, tally.waiting, tally.cost, tally.tokens, tally.began) == (4, 6, 0.5, 100, 5.0)


def test_tasks_run_and_end() -> None:
    tally = make_tally()
    tally.record(TaskStarted("a", 1), 1.0)
    tally.record(TaskProgressed("a", TaskPhase.RUNNING, "glob", 40), 2.0)
    tally.record(TaskProgressed("a", TaskPhase.CHECKING, "make test", 0), 2.0)
    assert (tally.running["a"].phase, tally.running["a"].started) == (TaskPhase.CHECKING, 1.0)
    assert (tally.tokens, tally.waiting) == (40, 9)
    tally.record(TaskEnded(passed("a", tokens=50)), 3.0)
    assert (dict(tally.counts), tally.tokens, tally.cost, tally.running) == ({TaskStatus.PASSED: 1}, 50, 0.02, {})


def test_a_task_that_is_retried_waits() -> None:
    tally = make_tally()
    tally.record(TaskStarted("a", 1), 0.0)
    tally.record(TaskRetried("a", 1, "overloaded", 5.0), 1.0)
    assert (len(tally.running), tally.waiting) == (0, 10)
    tally.record(TaskStarted("a", 2), 6.0)
    assert tally.running["a"].attempt == 2


def test_a_task_in_the_queue_of_an_engine_waits() -> None:
    tally = make_tally()
    tally.record(TaskStarted("a", 2), 0.0)
    tally.record(TaskProgressed("a", TaskPhase.QUEUED), 0.0)
    assert (len(tally.running), tally.waiting) == (0, 10)
    tally.record(TaskProgressed("a", TaskPhase.PREPARING), 5.0)
    assert (tally.running["a"].started, tally.running["a"].attempt, tally.waiting) == (5.0, 2, 9)


def test_tasks_that_end_in_the_queue_count_for_the_estimate() -> None:
    tally = make_tally(total=6, jobs=1)
    for number in range(3):
        tally.record(TaskStarted(f"t{number}", 1), 0.0)
        tally.record(TaskProgressed(f"t{number}", TaskPhase.QUEUED), 0.0)
        tally.record(TaskEnded(passed(f"t{number}", seconds=10.0)), 0.0)
    assert tally.seconds_left(0.0) == pytest.approx(30.0)


def test_news_of_an_unknown_task_change_nothing() -> None:
    tally = make_tally()
    tally.record(TaskProgressed("a", TaskPhase.RUNNING), 0.0)
    assert tally.running == {}


def test_prices_that_are_unknown_are_counted() -> None:
    tally = make_tally()
    tally.record(TaskEnded(passed("a", cost=None)), 0.0)
    tally.record(TaskEnded(errored("b")), 0.0)
    assert (tally.unknown_costs, tally.cost) == (1, 0.0)


def test_the_estimate_needs_three_tasks_and_counts_those_that_run() -> None:
    tally = make_tally(total=10, jobs=2)
    run_task(tally, "a", 10.0)
    run_task(tally, "b", 20.0)
    assert tally.seconds_left(0.0) is None
    run_task(tally, "c", 30.0)
    assert tally.seconds_left(0.0) == pytest.approx(7 * 20 / 2)
    tally.record(TaskStarted("d", 1), 0.0)
    assert tally.seconds_left(5.0) == pytest.approx((6 * 20 + 15) / 2)
    assert tally.seconds_left(500.0) == pytest.approx(6 * 20 / 2)


def test_tasks_that_never_ran_do_not_shorten_the_estimate() -> None:
    tally = make_tally()
    for number in range(5):
        tally.record(TaskEnded(errored(f"e{number}")), 0.0)
    assert tally.seconds_left(0.0) is None


def test_the_estimate_uses_the_last_tasks() -> None:
    tally = make_tally(total=200, jobs=1)
    for number in range(60):
        run_task(tally, f"slow-{number}", 100.0)
    for number in range(50):
        run_task(tally, f"fast-{number}", 1.0)
    assert tally.seconds_left(0.0) == pytest.approx(90)


def test_nothing_is_left_at_the_end() -> None:
    tally = make_tally(total=3)
    for number in range(3):
        run_task(tally, f"{number}", 1.0)
    assert tally.seconds_left(0.0) is None
    tally.record(TaskStarted("late", 1), 0.0)
    tally.record(ended := BatchEnded({"passed": 3}, 0.1, 1, 1.0), 0.0)
    assert (tally.ended, tally.running) == (ended, {})
    tally.record(TaskEnded(failed("late")), 0.0)
    assert tally.waiting == 0
