"""What one run took."""

import pytest

from support.sample_events import FIRST_ANSWER, LAST_ANSWER, SUMMARY_ANSWER
from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.model import Usage
from tejat.ui.shared.labels.run_summary import RunMeter, RunSummary, format_cost, format_count, format_tokens


def test_each_run_is_counted_apart_from_its_session() -> None:
    figures = RunMeter()
    figures.begin(10.0)
    for event in (FIRST_ANSWER, SUMMARY_ANSWER):
        figures.count(event)
    first = figures.end(RunEnded(EndReason.FINISHED, usage=Usage(99), cost=0.5), 12.5)
    assert first == RunSummary(2.5, Usage(13, 4, 7, 2, 1), 0.5)
    figures.begin(20.0)
    figures.count(LAST_ANSWER)
    assert figures.end(RunEnded(EndReason.FINISHED, cost=0.75), 21.0) == RunSummary(1.0, Usage(20, 8, 6), 0.25)
    figures.begin(30.0)
    assert figures.end(RunEnded(EndReason.FINISHED), 31.0) == RunSummary(1.0)


def test_in_words() -> None:
    assert RunSummary(65.0, Usage(12_000, 3000, 500), 0.0123).labels == (
        "1 min 5 s",
        "12k tokens, 24 % cached",
        "$0.0123",
    )
    assert RunSummary(0.2).labels == ("0.2 s",)


@pytest.mark.parametrize(
    ("total", "cached", "words"),
    [
        (999, 0, "999 tokens"),
        (9999, 0, "9,999 tokens"),
        (1_234_567, 1_234_567, "1.2M tokens, 100 % cached"),
        (10, 20, "10 tokens, 100 % cached"),
    ],
)
def test_tokens(total: int, cached: int, words: str) -> None:
    assert format_tokens(total, cached) == words


@pytest.mark.parametrize(("dollars", "words"), [(0.0042, "$0.0042"), (0.5, "$0.50"), (12.345, "$12.35")])
def test_money(dollars: float, words: str) -> None:
    assert format_cost(dollars) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (12_345, "12k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (999_950_000, "1.0G"),
        (3.4e12, "3,400.0G"),
    ],
)
def test_large_numbers(count: float, words: str) -> None:
    assert format_count(count) == words
