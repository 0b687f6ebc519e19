"""Bars over days: heights, grouping, legends and tables."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.svg_geometry import Drawing, check_drawing, drawings, parse_figure
from tejat.ui.html.charts import svg
from tejat.ui.html.charts.scale import ChartUnit
from tejat.ui.html.charts.stacked_bars import ChartSeries, render_stacked_bars


def days(count: int) -> list[str]:
    return [(date(2025, 11, 20) + timedelta(number)).isoformat() for number in range(count)]


def render(count: int, *series: ChartSeries, unit: ChartUnit = ChartUnit.COUNT) -> str:
    return render_stacked_bars("Tokens", days(count), series, unit, chart_id="c")


def day_bars(drawing: Drawing) -> list[tuple[str, float]]:
    return [(box.label, box.height) for box in drawing.bars if box.label]


def test_heights_are_proportional_and_segments_stand_on_each_other() -> None:
    markup = render(2, ChartSeries("input", (100.0, 50.0)), ChartSeries("output", (25.0, 0.0)))
    for drawing in drawings(markup):
        check_drawing(drawing)
        first, above, second = (box for box in drawing.bars if box.label)
        assert first.height / second.height == pytest.approx(2, rel=0.01)
        assert first.height / above.height == pytest.approx(4, rel=0.01)
        assert above.y + above.height == pytest.approx(first.y, abs=0.02)
        assert first.y + first.height == pytest.approx(second.y + second.height, abs=0.02)
        assert first.label == "2025-11-20, input: 100"


def test_the_table_has_every_value_and_says_what_is_unknown() -> None:
    markup = render(3, ChartSeries("a", (1.5, None, 0.0)), ChartSeries("b", (2.0, 3.0, 0.0)), unit=ChartUnit.DOLLARS)
    rows = [["".join(cell.itertext()) for cell in row] for row in parse_figure(markup).iter("tr")]
    assert rows == [["Day", "a", "b"], ["2025-11-20", "$1.50", "$2.00"], ["2025-11-21", "?", "$3.00"]]
    assert "Incomplete on 1 day." in markup


@pytest.mark.parametrize("count", [1, 45, 46, 120, 121, 400, 4000])
def test_many_days_become_fewer_bars_with_the_same_sum(count: int) -> None:
    markup = render(count, ChartSeries("a", tuple(float(number % 9 + 1) for number in range(count))))
    wide, narrow = drawings(markup)
    assert len(day_bars(wide)) <= 121
    assert len(day_bars(narrow)) <= 46
    for drawing in (wide, narrow):
        check_drawing(drawing)
        assert all(box.width >= 2 for box in drawing.bars)
        assert any("2025" in text.label or "-" in text.label for text in drawing.texts)


def test_more_series_than_colours_are_summed() -> None:
    series = [ChartSeries(f"model-{number}", (float(number), 1.0)) for number in range(1, 12)]
    for drawing in drawings(render(2, *series)):
        check_drawing(drawing)
        names = [text.label for text in drawing.texts]
        assert f"other ({11 - svg.SERIES_COUNT + 1})" in names
        assert "model-11" in names
        assert "model-1" not in names
        assert len({box.fill for box in drawing.bars}) == svg.SERIES_COUNT


@pytest.mark.parametrize("series", [(), (ChartSeries("a", (0.0, 0.0)),), (ChartSeries("a", (None, None)),)])
def test_nothing_to_draw(series: Sequence[ChartSeries]) -> None:
    markup = render(2, *series)
    assert drawings(markup) == []
    assert "No data for this period." in markup
    assert "No data" in render(0)


@settings(max_examples=60, deadline=None)
@example([("tiny", [3e-62])], ChartUnit.DOLLARS)
@example([("large", [1e18, None])], ChartUnit.SECONDS)
@given(
    st.integers(1, 60).flatmap(
        lambda count: st.lists(
            st.tuples(
                st.text(min_size=1, max_size=60),
                st.lists(st.none() | st.floats(0, 1e18), min_size=count, max_size=count),
            ),
            min_size=1,
            max_size=9,
        )
    ),
    st.sampled_from(ChartUnit),
)
def test_any_values_stay_inside_and_labels_apart(series: list[tuple[str, list[float | None]]], unit: ChartUnit) -> None:
    markup = render(len(series[0][1]), *(ChartSeries(name, tuple(values)) for name, values in series), unit=unit)
    for drawing in drawings(markup):
        check_drawing(drawing)
