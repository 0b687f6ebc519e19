"""Round ticks and short labels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.html.charts.scale import ChartUnit, format_value, make_scale


@given(st.floats(1e-9, 1e18), st.sampled_from(ChartUnit), st.integers(2, 8))
def test_a_scale_reaches_the_largest_value_with_few_even_ticks(largest: float, unit: ChartUnit, max_ticks: int) -> None:
    scale = make_scale(largest, 100.0, unit, max_ticks=max_ticks)
    assert scale.maximum >= largest * (1 - 1e-6)
    assert 2 <= len(scale.ticks) <= max_ticks + 1
    assert scale.position(scale.maximum) == pytest.approx(100.0)
    step = scale.ticks[1]
    assert all(math.isclose(tick, index * step) for index, tick in enumerate(scale.ticks))
    labels = [scale.label(tick) for tick in scale.ticks]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("largest", "unit", "labels"),
    [
        (7, ChartUnit.COUNT, ["0", "2", "4", "6", "8"]),
        (1, ChartUnit.COUNT, ["0", "1"]),
        (1_900_000, ChartUnit.COUNT, ["0", "500k", "1M", "1.5M", "2M"]),
        (3.7e15, ChartUnit.COUNT, ["0", "1P", "2P", "3P", "4P"]),
        (0.0007, ChartUnit.DOLLARS, ["$0", "$0.0002", "$0.0004", "$0.0006", "$0.0008"]),
        (12, ChartUnit.DOLLARS, ["$0", "$5", "$10", "$15"]),
        (1.5, ChartUnit.DOLLARS, ["$0", "$0.5", "$1.0", "$1.5"]),
        (70_000, ChartUnit.DOLLARS, ["$0", "$20k", "$40k", "$60k", "$80k"]),
        (100, ChartUnit.SECONDS, ["0", "30 s", "60 s", "90 s", "2 min"]),
        (7000, ChartUnit.SECONDS, ["0", "30 min", "1 h 0 min", "1 h 30 min", "2 h 0 min"]),
        (400_000, ChartUnit.SECONDS, ["0", "2 d", "4 d", "6 d"]),
        (0.3, ChartUnit.SECONDS, ["0", "0.1 s", "0.2 s", "0.3 s"]),
        (0, ChartUnit.COUNT, ["0", "1"]),
        (math.inf, ChartUnit.COUNT, ["0", "1"]),
    ],
)
def test_labels(largest: float, unit: ChartUnit, labels: list[str]) -> None:
    scale = make_scale(largest, 100.0, unit, max_ticks=4)
    assert [scale.label(tick) for tick in scale.ticks] == labels


def test_unknown_values_are_not_zero() -> None:
    assert [format_value(None, unit) for unit in ChartUnit] == ["?", "?", "?"]
    assert [format_value(0, unit) for unit in ChartUnit] == ["0", "$0.00", "0 s"]
