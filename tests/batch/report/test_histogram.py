"""Histograms: every value in one bin, outliers together."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.report.histogram import make_histogram
from tejat.ui.html.charts.scale import ChartUnit


def test_round_limits() -> None:
    bins = make_histogram([1.0, 4.0, 5.0, 12.0, 19.0], ChartUnit.SECONDS)
    assert [(each.label, each.count) for each in bins] == [
        ("0 – 2 s", 1),
        ("2 s – 4 s", 0),
        ("4 s – 6 s", 2),
        ("6 s – 8 s", 0),
        ("8 s – 10 s", 0),
        ("10 s – 12 s", 1),
        ("over 12 s", 1),
    ]


def test_an_outlier_does_not_flatten_the_rest() -> None:
    bins = make_histogram([*(number / 10 for number in range(1, 100)), 5000.0], ChartUnit.SECONDS)
    assert len(bins) > 4
    assert bins[-1].count <= 5


def test_nothing() -> None:
    assert make_histogram([], ChartUnit.DOLLARS) == []


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50).map(sorted), st.sampled_from(ChartUnit))
def test_every_value_is_counted_once(values: list[float], unit: ChartUnit) -> None:
    bins = make_histogram(values, unit)
    assert sum(each.count for each in bins) == len(values)
    assert len(bins) <= 9
