"""Stacked bars over days."""

from collections.abc import Sequence
from datetime import date

from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.ui.html.charts import svg
from tejat.ui.html.charts.scale import ChartUnit, Scale, format_value, make_scale

_PLOT_HEIGHT = 180.0
_AXIS_HEIGHT = 24.0
_TOP = 8.0
_MAX_BARS = {svg.WIDE: 120, svg.NARROW: 45}
_GROUPS = (1, 7, 14, 30, 91, 365)
"""Days that can become one bar."""


class ChartSeries(Frozen):
    """The values of one kind or model for each day, None where unknown."""

    name: str
    values: tuple[float | None, ...]


class _Bar(Frozen):
    label: str
    values: tuple[float, ...]


def render_stacked_bars(
    title: str, days: Sequence[str], series: Sequence[ChartSeries], unit: ChartUnit, *, chart_id: str
) -> str:
    """Render values by day (ISO dates, one after the other) as a figure with a table.

    Series without any value are left out; the smallest ones become one beyond the number of colours. Where there are
    too many days for the width, several become one bar.
    """
    shown = _fold_series([each for each in series if any(each.values)])
    if not days or not shown:
        return svg.empty_figure(title, _("No data for this period."))
    drawings = [_draw(title, days, shown, unit, chart_id, layout) for layout in (svg.WIDE, svg.NARROW)]
    unknown = sum(any(each.values[index] is None for each in series) for index in range(len(days)))
    notes = [ngettext("Incomplete on {count} day.", "Incomplete on {count} days.", unknown)] if unknown else []
    rows = [
        (day, *(format_value(each.values[index], unit) for each in series))
        for index, day in enumerate(days)
        if any(each.values[index] is None or each.values[index] for each in series)
    ]
    heading = (_("Day"), *(each.name for each in series))
    return svg.figure(title, drawings, svg.table(heading, rows, caption=title), notes=notes)


def _fold_series(series: Sequence[ChartSeries]) -> list[ChartSeries]:
    """At most as many series as there are colours. The order stays, and the rest comes last."""
    if len(series) <= svg.SERIES_COUNT:
        return list(series)
    largest = sorted(series, key=lambda each: -sum(value or 0.0 for value in each.values))[: svg.SERIES_COUNT - 1]
    kept = [each for each in series if each in largest]
    rest = [each for each in series if each not in largest]
    sums = tuple(sum(value or 0.0 for value in values) for values in zip(*(each.values for each in rest), strict=True))
    return [*kept, ChartSeries(_("other ({count})", count=len(rest)), sums)]


def _draw(
    title: str,
    days: Sequence[str],
    series: Sequence[ChartSeries],
    unit: ChartUnit,
    chart_id: str,
    layout: svg.Layout,
) -> str:
    size = next((size for size in _GROUPS if len(days) <= size * _MAX_BARS[layout]), _GROUPS[-1])
    bars = _group(days, series, size)
    scale = make_scale(max(sum(bar.values) for bar in bars), _PLOT_HEIGHT, unit, max_ticks=4)
    key, top = svg.legend(list(enumerate(each.name for each in series)), chart_id, layout)
    top += _TOP
    left = max(svg.text_width(scale.label(tick)) for tick in scale.ticks) + 8
    step = (layout.width - left) / len(bars)
    content = [svg.pattern_definitions(chart_id, layout, len(series)), key, _draw_axis(scale, left, top, layout)]
    for index, bar in enumerate(bars):
        x, width = _bar_place(left + index * step, step)
        y = top + _PLOT_HEIGHT
        for number, value in enumerate(bar.values):
            height = scale.position(value)
            if height > 0:
                y -= height
                name = f"{bar.label}, {series[number].name}: {format_value(value, unit)}"
                fill = svg.series_fill(chart_id, layout, number)
                content.append(svg.rect(x, y, width, height, class_="chart-bar", fill=fill, title=name))
    content.append(_draw_days([bar.label for bar in bars], left, step, top + _PLOT_HEIGHT, layout))
    description = _describe(bars, unit, size)
    height = top + _PLOT_HEIGHT + _AXIS_HEIGHT
    return svg.drawing("".join(content), height, chart_id=chart_id, layout=layout, title=title, description=description)


def _group(days: Sequence[str], series: Sequence[ChartSeries], size: int) -> list[_Bar]:
    """Sum groups of days. The last group ends with the last day, so that it is a whole one."""
    first = len(days) % size
    starts = [*([0] if first else []), *range(first, len(days), size)]
    bars: list[_Bar] = []
    for start, end in zip(starts, [*starts[1:], len(days)], strict=True):
        values = tuple(sum(value or 0.0 for value in each.values[start:end]) for each in series)
        label = days[start] if end - start == 1 else f"{days[start]} – {days[end - 1]}"
        bars.append(_Bar(label, values))
    return bars


def _bar_place(x: float, step: float) -> tuple[float, float]:
    """Where a bar begins and how wide it is: a gap beside it, and no wider than is good to read."""
    width = min(step * 0.8 if step > 4 else step, 48.0)
    return x + (step - width) / 2, width


def _draw_axis(scale: Scale, left: float, top: float, layout: svg.Layout) -> str:
    pieces: list[str] = []
    for tick in scale.ticks:
        y = top + _PLOT_HEIGHT - scale.position(tick)
        pieces.append(svg.line(left, y, layout.width, y, class_="chart-grid" if tick else "chart-axis"))
        pieces.append(svg.text(left - 6, min(y + 4, top + _PLOT_HEIGHT + 4), scale.label(tick), anchor="end"))
    return "".join(pieces)


def _draw_days(labels: Sequence[str], left: float, step: float, bottom: float, layout: svg.Layout) -> str:
    """Label as many days as fit, the last one always; years only where they change."""
    with_year = len({each[:4] for each in labels}) > 1
    room = svg.text_width("2026-12-31" if with_year else "12-31") + 14
    every = max(1, -int(-room // step))
    pieces, free = list[str](), layout.width + 14
    for index in range(len(labels) - 1, -1, -every):
        label = _short_day(labels[index], with_year=with_year)
        half = svg.text_width(label) / 2
        middle = min(left + (index + 0.5) * step, layout.width - half)
        if middle + half <= free - 14 and middle >= half:
            pieces.append(svg.text(middle, bottom + 18, label, anchor="middle"))
            free = middle - half
    return "".join(pieces)


def _short_day(label: str, *, with_year: bool) -> str:
    day = label.partition(" ")[0]
    try:
        date.fromisoformat(day)
    except ValueError:
        return day[:10]
    return day if with_year else day[5:]


def _describe(bars: Sequence[_Bar], unit: ChartUnit, size: int) -> str:
    total = sum(sum(bar.values) for bar in bars)
    highest = max(bars, key=lambda bar: sum(bar.values))
    grouped = "" if size == 1 else " " + ngettext("Each bar is {count} day.", "Each bar is {count} days.", size)
    return (
        _(
            "Total {total}. The highest bar is {value}, {day}.",
            total=format_value(total, unit),
            value=format_value(sum(highest.values), unit),
            day=highest.label,
        )
        + grouped
    )
