"""Horizontal bars: lengths, labels, the rest as one bar."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.svg_geometry import check_drawing, drawings, parse_figure
from tejat.ui.html.charts.bars import MAX_BARS, ChartBar, render_bars
from tejat.ui.html.charts.scale import ChartUnit


def render(*bars: ChartBar, unit: ChartUnit = ChartUnit.SECONDS) -> str:
    return render_bars("Time per tool", bars, unit, chart_id="c", names="Tool")


def test_lengths_are_proportional_and_values_stand_beside_them() -> None:
    for drawing in drawings(render(ChartBar("read_file", 60.0, "(3 calls)"), ChartBar("glob", 15.0))):
        check_drawing(drawing)
        long, short = drawing.bars
        assert long.width / short.width == pytest.approx(4, rel=0.01)
        assert {"read_file", "glob", "1 min (3 calls)", "15 s"} == {text.label for text in drawing.texts}


def test_sixty_tools_become_fifteen_bars_and_sixty_rows() -> None:
    markup = render(*(ChartBar(f"tool_{number}", 60.0 - number) for number in range(60)))
    for drawing in drawings(markup):
        check_drawing(drawing)
        assert len(drawing.bars) == MAX_BARS
        assert "other (46)" in {text.label for text in drawing.texts}
    assert len(list(parse_figure(markup).iter("tr"))) == 61


def test_unknown_values_are_in_the_table_only() -> None:
    markup = render(ChartBar("read_file", 2.0), ChartBar("glob", None, "(1 call)"))
    assert [len(drawing.bars) for drawing in drawings(markup)] == [1, 1]
    rows = [["".join(cell.itertext()) for cell in row] for row in parse_figure(markup).iter("tr")]
    assert rows[1:] == [["read_file", "2.0 s", ""], ["glob", "?", "(1 call)"]]
    unknown = render(ChartBar("glob", None))
    assert drawings(unknown) == []
    assert "?" in "".join(parse_figure(unknown).itertext())


def test_nothing_at_all() -> None:
    assert "No data." in render()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(ChartBar, st.text(max_size=80), st.none() | st.floats(0, 1e15), st.text(max_size=80)), max_size=25
    ),
    st.sampled_from(ChartUnit),
)
def test_any_labels_stay_inside_and_apart(bars: list[ChartBar], unit: ChartUnit) -> None:
    for drawing in drawings(render(*bars, unit=unit)):
        check_drawing(drawing)
