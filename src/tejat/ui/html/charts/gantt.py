"""The timeline of a run as a Gantt chart."""

from collections.abc import Iterable, Sequence

from tejat.core.agent.history.timeline import RunTimeline, SpanKind, TimelineSpan
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext, translate
from tejat.ui.html.charts import svg
from tejat.ui.html.charts.scale import ChartUnit, Scale, format_value, make_scale
from tejat.ui.shared.labels.history import SPAN_LABELS

MAX_LANES = 30
_MAX_ROWS = 1000
_LABEL_WIDTH = 190.0
_BAR_HEIGHT = 14.0
_LANE = 20.0
_HEADING = 18.0
_MIN_WIDTH = 2.0
_LAST_TICK = 36.0
"""Room for half of the last label."""
_KINDS = (SpanKind.REQUEST, SpanKind.CALL, SpanKind.WAIT, SpanKind.AGENT)
_FAILED = frozenset({"error", "cancelled", "cancel", "stop", "stop_agent"})


class _Lane(Frozen):
    """Spans of one kind and name that do not overlap. The first lane of several has the label."""

    label: str
    spans: tuple[TimelineSpan, ...]


def render_timeline(timeline: RunTimeline, *, chart_id: str) -> str:
    """Render the spans of a run as a figure with a table. Spans of the same tool at the same time get several lanes."""
    title = _("Timeline of run {number}", number=timeline.number)
    notes: list[str] = []
    if timeline.missing:
        notes.append(
            ngettext(
                "The time of {count} request or call was not recorded.",
                "The times of {count} requests and calls were not recorded.",
                timeline.missing,
            )
        )
    if not timeline.spans:
        return svg.empty_figure(title, " ".join(notes) or _("Nothing was recorded."))
    lanes = list(_make_lanes(timeline.spans))
    if len(lanes) > MAX_LANES:
        hidden = len(lanes) - MAX_LANES
        notes.append(
            ngettext("{count} more row is in the table only.", "{count} more rows are in the table only.", hidden)
        )
    if len(timeline.spans) > _MAX_ROWS:
        notes.append(_("The table has the first {count} parts.", count=_MAX_ROWS))
    drawings = [_draw(title, timeline, lanes[:MAX_LANES], chart_id, layout) for layout in (svg.WIDE, svg.NARROW)]
    return svg.figure(title, drawings, _table(timeline, title), notes=notes)


def _table(timeline: RunTimeline, title: str) -> str:
    heading = (_("Part"), _("Name"), _("Start"), _("Duration"), _("Outcome"), _("Agent"))
    rows = [
        (
            translate(SPAN_LABELS[span.kind]),
            span.label,
            format_value(span.start - timeline.started, ChartUnit.SECONDS),
            format_value(span.seconds, ChartUnit.SECONDS),
            span.outcome,
            span.agent,
        )
        for span in timeline.spans[:_MAX_ROWS]
    ]
    return svg.table(heading, rows, caption=title, texts=(1, 4, 5))


def _make_lanes(spans: Sequence[TimelineSpan]) -> Iterable[_Lane]:
    """Group spans by agent, kind and name in the order of their start, without overlaps in a lane."""
    groups: dict[tuple[str, SpanKind, str], list[list[TimelineSpan]]] = {}
    for span in spans:
        lanes = groups.setdefault((span.agent, span.kind, span.label), [])
        free = next((lane for lane in lanes if lane[-1].end <= span.start), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    for (agent, _kind, label), lanes in groups.items():
        for number, lane in enumerate(lanes):
            name = f"{label} ({agent})" if agent else label
            yield _Lane("" if number else name, tuple(lane))


def _draw(title: str, timeline: RunTimeline, lanes: Sequence[_Lane], chart_id: str, layout: svg.Layout) -> str:
    entries = [
        (number, translate(SPAN_LABELS[kind]))
        for number, kind in enumerate(_KINDS)
        if any(span.kind is kind for span in timeline.spans)
    ]
    key, top = svg.legend(entries, chart_id, layout)
    left = 0.0 if layout.is_narrow else _label_width(lanes)
    max_ticks = 4 if layout.is_narrow else 8
    seconds = timeline.ended - timeline.started
    scale = make_scale(seconds, layout.width - left - _LAST_TICK, ChartUnit.SECONDS, max_ticks=max_ticks)
    body: list[str] = []
    y = top + _HEADING + 4
    for lane in lanes:
        if layout.is_narrow and lane.label:
            body.append(svg.text(0, y + 13, svg.fit_text(lane.label, layout.width)))
            y += _HEADING
        elif lane.label:
            body.append(svg.text(left - 8, y + 13, svg.fit_text(lane.label, left - 8), anchor="end"))
        body += _draw_spans(lane, timeline.started, scale, (left, y), chart_id, layout)
        y += _LANE
    content = [svg.pattern_definitions(chart_id, layout, len(_KINDS)), key, *_draw_axis(scale, left, top, y), *body]
    return svg.drawing(
        "".join(content), y + 4, chart_id=chart_id, layout=layout, title=title, description=_describe(timeline)
    )


def _label_width(lanes: Sequence[_Lane]) -> float:
    return min(_LABEL_WIDTH, max(svg.text_width(lane.label) for lane in lanes)) + 8


def _draw_spans(
    lane: _Lane, started: float, scale: Scale, origin: tuple[float, float], chart_id: str, layout: svg.Layout
) -> Iterable[str]:
    """Draw the spans of a lane. One that would cover exactly another is left out: thousands may be in a pixel."""
    drawn = ""
    for span in lane.spans:
        x = origin[0] + scale.position(max(0.0, span.start - started))
        width = max(scale.position(span.seconds), _MIN_WIDTH)
        place = f"{x:.0f} {width:.0f}"
        if place == drawn:
            continue
        drawn = place
        outcome = f", {span.outcome}" if span.outcome else ""
        name = f"{span.label}: {format_value(span.seconds, ChartUnit.SECONDS)}{outcome}"
        class_ = "chart-bar chart-failed" if span.outcome in _FAILED else "chart-bar"
        fill = svg.series_fill(chart_id, layout, _KINDS.index(span.kind))
        yield svg.rect(x, origin[1] + 2, width, _BAR_HEIGHT, class_=class_, fill=fill, title=name)


def _draw_axis(scale: Scale, left: float, top: float, bottom: float) -> Iterable[str]:
    """Vertical lines with their times above. Labels that would touch the one before are left out."""
    end = float("-inf")
    for tick in scale.ticks:
        x, label = left + scale.position(tick), scale.label(tick)
        yield svg.line(x, top + _HEADING, x, bottom, class_="chart-grid" if tick else "chart-axis")
        half = svg.text_width(label) / 2
        middle = max(x, half)
        if middle - half > end + 6:
            yield svg.text(middle, top + 12, label, anchor="middle")
            end = middle + half


def _describe(timeline: RunTimeline) -> str:
    """How long the parts took together."""
    sums: dict[SpanKind, float] = {}
    for span in timeline.spans:
        sums[span.kind] = sums.get(span.kind, 0.0) + span.seconds
    parts = [
        f"{translate(SPAN_LABELS[kind])} {format_value(sums[kind], ChartUnit.SECONDS)}"
        for kind in _KINDS
        if kind in sums
    ]
    total = format_value(timeline.ended - timeline.started, ChartUnit.SECONDS)
    return _("The run took {total}: {parts}.", total=total, parts=", ".join(parts))
