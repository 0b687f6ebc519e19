"""Two batches: which task passed where, and whether it may be chance."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.batch_results import errored, failed, passed, skipped
from tejat.batch.report.comparison import BatchComparison, PairOutcome, compare_batches, sign_test
from tejat.batch.result import TaskResult


def compare(first: list[TaskResult], second: list[TaskResult]) -> BatchComparison:
    return compare_batches(first, second, first_name="A", second_name="B")


def test_every_task_has_an_outcome() -> None:
    first = [
        passed("both"),
        passed("one"),
        failed("two"),
        failed("none"),
        passed("err"),
        passed("skip"),
        passed("gone"),
    ]
    second = [
        passed("both"),
        failed("one"),
        passed("two"),
        failed("none"),
        errored("err"),
        skipped("skip"),
        failed("new"),
    ]
    compared = compare(first, second)
    assert {pair.id: pair.outcome.value for pair in compared.pairs} == {
        "both": "both_passed",
        "one": "only_first",
        "two": "only_second",
        "none": "neither",
        "err": "untried",
        "skip": "untried",
        "gone": "missing",
        "new": "missing",
    }
    assert compared.count(PairOutcome.UNTRIED) == 2
    assert (compared.first.total, compared.second.total) == (7, 7)
    assert compared.p_value == 1.0


def test_cost_and_time_on_tasks_that_both_passed() -> None:
    first = [passed("a", cost=0.4, seconds=10.0), passed("b", cost=0.1, seconds=5.0), passed("c", cost=9.0)]
    second = [passed("a", cost=0.2, seconds=12.0), passed("b", cost=None, seconds=2.0), failed("c", cost=9.0)]
    compared = compare(first, second)
    assert (compared.cost.tasks, compared.cost.first, compared.cost.second) == (1, 0.4, 0.2)
    assert compared.cost.change == pytest.approx(-0.5)
    assert (compared.seconds.tasks, compared.seconds.first, compared.seconds.second) == (2, 15.0, 14.0)
    assert (compared.seconds.first_lower, compared.seconds.second_lower) == (1, 1)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (13, 4, 0.049041748), (3, 3, 1.0)],
)
def test_the_sign_test(first: int, second: int, p: float) -> None:
    assert sign_test(first, second) == pytest.approx(p)
    assert sign_test(second, first) == pytest.approx(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_binomial_tail(first: int, second: int) -> None:
    total = first + second
    tail = sum(comb(total, heads) for heads in range(min(first, second) + 1)) / 2**total
    assert sign_test(first, second) == pytest.approx(min(1.0, 2 * tail))


def test_thousands_of_tasks() -> None:
    assert 0 < sign_test(4900, 5100) < 0.05
    assert sign_test(0, 10_000) == 0.0


def test_a_later_result_of_the_same_task_counts() -> None:
    assert compare([failed("a"), passed("a")], [passed("a")]).count(PairOutcome.BOTH_PASSED) == 1
