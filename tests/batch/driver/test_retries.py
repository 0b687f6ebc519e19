"""Waits before another attempt."""

import pytest

from tejat.batch.driver.retries import CircuitBreaker, retry_wait


@pytest.mark.parametrize(
    ("failures", "chance", "expected"), [(1, 0.0, 5), (2, 0.0, 10), (1, 1.0, 6.25), (7, 0.0, 300), (200, 1.0, 300)]
)
def test_waits_grow_up_to_five_minutes(failures: int, chance: float, expected: float) -> None:
    assert retry_wait(failures, lambda: chance) == expected


def test_lost_jobs_wait_less() -> None:
    assert retry_wait(1, lambda: 0.0, is_lost=True) == 1.0


def breaker(jobs: int = 2) -> CircuitBreaker:
    return CircuitBreaker(jobs, lambda: 0.0)


def test_failures_of_one_task_do_not_pause_the_rest() -> None:
    one = breaker()
    assert [one.note_failure(7, 0.0) for _ in range(9)] == [0.0] * 9
    assert one.may_start(0.0)


def test_an_answer_between_failures_starts_the_count_again() -> None:
    one = breaker()
    one.note_failure(1, 0.0)
    one.note_failure(2, 0.0)
    one.note_answer()
    assert one.note_failure(3, 0.0) == 0.0
    assert one.may_start(0.0)


def test_after_a_pause_one_task_tries() -> None:
    one = breaker()
    assert [one.note_failure(task, 0.0) for task in range(4)] == [0.0, 0.0, 5.0, 0.0]
    assert (one.may_start(4.0), one.wait_seconds(4.0)) == (False, 1.0)
    assert (one.may_start(5.0), one.wait_seconds(5.0)) == (True, None)
    one.note_start(9)
    assert not one.may_start(6.0)
    assert one.note_failure(9, 7.0) == 10.0
    assert not one.may_start(16.0)
    one.note_start(9)
    one.note_answer()
    assert one.may_start(17.0)


def test_a_try_that_is_lost_says_nothing() -> None:
    one = breaker()
    for task in range(3):
        one.note_failure(task, 0.0)
    one.note_start(5)
    one.note_end(5)
    assert one.may_start(6.0)
