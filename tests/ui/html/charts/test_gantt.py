"""The timeline of a run as a chart."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.svg_geometry import check_drawing, drawings, parse_figure
from tejat.core.agent.history.timeline import RunTimeline, SpanKind, TimelineSpan
from tejat.ui.html.charts.gantt import MAX_LANES, render_timeline

START = 1_770_000_000.0


def span(kind: SpanKind, label: str, start: float, end: float, outcome: str = "", agent: str = "") -> TimelineSpan:
    return TimelineSpan(kind, label, START + start, START + end, outcome, agent)


def render(*spans: TimelineSpan, seconds: float = 60.0, missing: int = 0) -> str:
    return render_timeline(RunTimeline(3, "go", START, START + seconds, spans, missing), chart_id="c")


def test_places_and_lengths_are_proportional_to_times() -> None:
    markup = render(span(SpanKind.REQUEST, "fast", 0, 20), span(SpanKind.CALL, "read_file", 30, 40, "success"))
    for drawing in drawings(markup):
        check_drawing(drawing)
        request, call = (box for box in drawing.bars if box.label)
        assert request.width / call.width == pytest.approx(2, rel=0.01)
        assert (call.x - request.x) / request.width == pytest.approx(1.5, rel=0.01)
        assert request.fill != call.fill
        assert call.label == "read_file: 10 s, success"
        assert "0" in {text.label for text in drawing.texts}


def test_parallel_calls_of_a_tool_get_lanes_of_their_own() -> None:
    calls = [span(SpanKind.CALL, "read_file", number, 10 + number) for number in range(3)]
    for drawing in drawings(render(*calls, span(SpanKind.CALL, "read_file", 20, 25))):
        check_drawing(drawing)
        bars = [box for box in drawing.bars if box.label]
        assert len({box.y for box in bars}) == 3
        rows = [box.y for box in bars]
        assert [rows.count(row) for row in sorted(set(rows))] == [2, 1, 1]
        assert not any(one.overlaps(other) for one in bars for other in bars if one is not other)
        assert [text.label for text in drawing.texts].count("read_file") == 1


def test_waiting_sub_agents_and_failures_can_be_told_apart() -> None:
    markup = render(
        span(SpanKind.WAIT, "run_shell_command", 0, 20, "proceed_once"),
        span(SpanKind.CALL, "run_shell_command", 20, 30, "error"),
        span(SpanKind.AGENT, "helper-1", 30, 50, "goal"),
        span(SpanKind.CALL, "glob", 31, 40, "success", "helper-1"),
    )
    for drawing in drawings(markup):
        check_drawing(drawing)
        assert [box.class_ for box in drawing.bars if box.label].count("chart-bar chart-failed") == 1
        labels = {text.label for text in drawing.texts}
        assert {"waiting for you", "tool call", "sub-agent", "glob (helper-1)"} <= labels
    rows = [["".join(cell.itertext()) for cell in row] for row in parse_figure(markup).iter("tr")]
    assert rows[1] == ["waiting for you", "run_shell_command", "0 s", "20 s", "proceed_once", ""]
    assert "waiting for you 20 s" in markup


def test_what_was_not_recorded_is_said() -> None:
    empty = render(missing=4)
    assert drawings(empty) == []
    assert "The times of 4 requests and calls were not recorded." in empty
    assert "Nothing was recorded." in render()
    assert "The time of 1 request or call" in render(span(SpanKind.REQUEST, "fast", 0, 1), missing=1)


def test_a_run_of_no_time_and_one_of_a_week() -> None:
    for seconds in (0.0, 0.001, 7 * 86_400.0):
        for drawing in drawings(render(span(SpanKind.REQUEST, "fast", 0, seconds), seconds=seconds)):
            check_drawing(drawing)


def test_thousands_of_spans_stay_small() -> None:
    spans = [span(SpanKind.CALL, "read_file", number / 100, (number + 0.5) / 100) for number in range(6000)]
    many = [span(SpanKind.CALL, f"tool_{number}", number, number + 1) for number in range(59)]
    markup = render(*spans, *many)
    assert len(markup) < 1_000_000
    assert f"{60 - MAX_LANES} more rows are in the table only." in markup
    for drawing in drawings(markup):
        assert len([box for box in drawing.bars if box.label]) < 800


TIMES = st.tuples(st.floats(0, 100), st.floats(0, 100))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SpanKind), st.text(max_size=60), TIMES, st.text(max_size=9)), max_size=20))
def test_any_spans_stay_inside_and_labels_apart(
    found: list[tuple[SpanKind, str, tuple[float, float], str]],
) -> None:
    spans = [span(kind, label, min(times), max(times), agent=agent) for kind, label, times, agent in found]
    spans.sort(key=lambda each: each.start)
    for drawing in drawings(render(*spans, seconds=100)):
        check_drawing(drawing)
