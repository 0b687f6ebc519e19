"""Limits of a batch, shared among jobs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.driver.budget import BatchBudget, Reservation
from tejat.batch.driver.options import BatchOptions
from tejat.batch.driver.usage import Spending
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.task import TaskLimits

NO_LIMITS = TaskLimits()


def budget(**options: object) -> BatchBudget:
    return BatchBudget(BatchOptions("out", **options), lambda: 0.0)  # pyright: ignore[reportArgumentType]


def test_without_limits_tasks_keep_their_own() -> None:
    limits = TaskLimits(seconds=5, cost=1.0, tokens=10, turns=2)
    reserved = budget().reserve(limits, jobs=4, is_idle=True)
    assert reserved is not None
    assert (reserved.limits, reserved.caps) == (limits, frozenset())


def test_shares_are_equal() -> None:
    shared = budget(max_cost=8.0, max_tokens=80_000)
    reserved = [shared.reserve(NO_LIMITS, jobs=4, is_idle=False) for _ in range(5)]
    assert [each and (each.limits.cost, each.limits.tokens) for each in reserved] == [(2.0, 20_000)] * 4 + [None]


def test_a_small_rest_is_for_fewer_tasks() -> None:
    shared = budget(max_cost=0.02)
    reserved = [shared.reserve(NO_LIMITS, jobs=8, is_idle=False) for _ in range(3)]
    assert [each and each.limits.cost for each in reserved] == [0.01, 0.01, None]


@given(
    seed=st.integers(0, 2**32),
    jobs=st.integers(1, 8),
    limit=st.floats(0.01, 100),
    own=st.lists(st.none() | st.floats(0.001, 50), min_size=1, max_size=30),
)
def test_no_order_of_jobs_exceeds_the_limit(seed: int, jobs: int, limit: float, own: list[float | None]) -> None:
    """Each job spends at most what it may. Whenever none runs, one can start or the limit is reached."""
    choice = random.Random(seed)
    shared = budget(max_cost=limit)
    running: list[Reservation] = []
    for cost in own:
        while True:
            reserved = None
            if len(running) < jobs:
                reserved = shared.reserve(TaskLimits(cost=cost), jobs=jobs, is_idle=not running)
            if reserved is not None:
                running.append(reserved)
                break
            if not running:
                assert shared.exhausted_reason()
                return
            ended = running.pop(choice.randrange(len(running)))
            assert ended.limits.cost is not None
            shared.settle(ended, Spending(ended.limits.cost * choice.choice((0.0, 0.5, 1.0))))
            assert shared.cost <= limit * (1 + 1e-9)


@pytest.mark.parametrize(
    ("caps", "run_error", "cost", "expected"),
    [
        ({"cost"}, "cost_limit", None, True),
        ({"cost"}, "turn_limit", 1.0, False),
        ({"cost"}, "", 1.0, True),
        ({"cost"}, "", 0.5, False),
        (set[str](), "cost_limit", 1.0, False),
        ({"tokens"}, "token_limit", 0.0, True),
        ({"seconds"}, "time_limit", 0.0, True),
        ({"seconds"}, "cost_limit", 0.0, False),
    ],
)
def test_the_limit_that_ended_a_run(caps: set[str], run_error: str, cost: float | None, expected: bool) -> None:
    shared = budget(max_cost=4.0, max_tokens=4000, max_seconds=60)
    reservation = Reservation(TaskLimits(seconds=20, cost=1.0, tokens=1000), frozenset(caps))
    ended = TaskResult("a", TaskStatus.FAILED, TaskFailure.LIMIT, exit_code=53, cost=cost)
    assert bool(shared.reached_cap(reservation, ended, run_error)) is expected


def test_a_run_that_passed_its_check_needs_no_more() -> None:
    shared = budget(max_cost=4.0)
    reservation = Reservation(TaskLimits(cost=1.0), frozenset({"cost"}))
    assert shared.reached_cap(reservation, TaskResult("a", TaskStatus.PASSED, exit_code=53), "cost_limit") == ""


def test_time() -> None:
    now = [100.0]
    shared = BatchBudget(BatchOptions("out", max_seconds=10), lambda: now[0])
    now[0] = 104.0
    reserved = shared.reserve(TaskLimits(seconds=3), jobs=1, is_idle=True)
    assert reserved is not None
    assert (reserved.limits.seconds, reserved.caps) == (3, frozenset())
    reserved = shared.reserve(TaskLimits(seconds=30), jobs=1, is_idle=True)
    assert reserved is not None
    assert (reserved.limits.seconds, reserved.caps) == (6.0, frozenset({"seconds"}))
    now[0] = 109.5
    assert shared.reserve(NO_LIMITS, jobs=1, is_idle=True) is None
    assert shared.exhausted_reason() == "The time limit of the batch is reached (10 seconds)."
