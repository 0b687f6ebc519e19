"""Figures: counts, sums, and what is unknown."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.batch_results import errored, failed, many_results, passed, results, skipped
from tejat.batch.report.figures import collect_figures, figures_to_json, spread
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.core.json_text import dump_json


def test_counts_and_rates() -> None:
    figures = collect_figures([passed("a"), passed("b"), failed("c"), errored("d"), skipped("e")])
    assert figures.total == 5
    assert figures.pass_rate == 0.5
    assert figures.failures == {
        TaskFailure.BATCH_LIMIT: 1,
        TaskFailure.CHECK_FAILED: 1,
        TaskFailure.REPOSITORY: 1,
    }
    assert figures.cost.total == pytest.approx(0.07)
    assert figures.cost_per_pass == pytest.approx(0.035)
    assert (figures.seconds.count, figures.seconds.median) == (3, 12.0)
    assert (figures.lines_added, figures.lines_removed, figures.tokens) == (20, 4, 4900)


def test_the_interval_is_wilsons() -> None:
    figures = collect_figures([*(passed(f"p{number}") for number in range(8)), failed("f"), failed("g")])
    assert figures.pass_interval == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert collect_figures([]).pass_interval is None
    assert collect_figures([skipped()]).pass_rate is None


def test_unknown_prices_are_counted_apart() -> None:
    figures = collect_figures([passed("a"), passed("b", cost=None), errored("c")])
    assert (figures.unknown_costs, figures.cost.count, figures.cost_per_pass) == (1, 1, None)


def test_groups_are_largest_first() -> None:
    figures = collect_figures([passed("a", model="m", repo="/x"), passed("b", model="n"), failed("c", model="n")])
    assert [(group.name, group.total, group.pass_rate) for group in figures.models] == [("n", 2, 0.5), ("m", 1, 1.0)]
    assert [group.name for group in figures.repositories] == ["/x"]


def test_retries_and_wall_time() -> None:
    figures = collect_figures(
        [passed("a", attempts=3, started=10.0, ended=20.0), passed("b", started=15.0, ended=40.0)]
    )
    assert (figures.retries, figures.wall_seconds) == (2, 30.0)


def test_spread() -> None:
    values = spread([float(number) for number in range(1, 11)])
    assert (values.mean, values.median, values.p90, values.largest) == (5.5, 5.5, 10.0, 10.0)
    assert spread([]).count == 0
    assert spread([3.0]).p90 == 3.0


def test_results_are_taken_one_by_one() -> None:
    """Memory stays small: no result is kept."""
    alive = 0

    def stream() -> Iterator[TaskResult]:
        nonlocal alive
        for result in many_results(1000):
            alive += 1
            yield result

    figures = collect_figures(stream())
    assert alive == figures.total == 1000
    assert len(figures.task_seconds) == figures.seconds.count


@given(st.lists(results(), max_size=20))
def test_any_results_have_figures_in_json(given_results: list[TaskResult]) -> None:
    figures = collect_figures(given_results)
    found = json.loads(dump_json(figures_to_json(figures)))
    assert found["total"] == len(given_results)
    assert sum(found[status.value] for status in TaskStatus) == len(given_results)
    assert sum(found["failures"].values()) == sum(each.failure is not TaskFailure.NONE for each in given_results)
    if found["pass_rate"] is not None:
        low, high = found["pass_interval"]
        assert 0 <= low <= found["pass_rate"] + 1e-9
        assert found["pass_rate"] - 1e-9 <= high <= 1
