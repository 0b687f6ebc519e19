"""Horizontal bars with their labels and values."""

from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.ui.html.charts import svg
from tejat.ui.html.charts.scale import ChartUnit, format_value

MAX_BARS = 15
_LABEL_WIDTH = 190.0
_BAR_HEIGHT = 18.0
_ROW = {svg.WIDE: 26.0, svg.NARROW: 44.0}


class ChartBar(Frozen):
    """A bar. `detail` stands behind the value and in the table; a value of None is unknown."""

    label: str
    value: float | None
    detail: str = ""


def render_bars(title: str, bars: Sequence[ChartBar], unit: ChartUnit, *, chart_id: str, names: str) -> str:
    """Render bars from left to right as a figure with a table. `names` is the heading of their labels.

    Beyond a limit the rest is one bar. Bars without a known value are in the table only.
    """
    known = [bar for bar in bars if bar.value is not None]
    heading = (names, _("Value"), _("Detail"))
    rows = [(bar.label, format_value(bar.value, unit), bar.detail) for bar in bars]
    if not any(bar.detail for bar in bars):
        heading, rows = heading[:2], [row[:2] for row in rows]
    if not any(bar.value for bar in known):
        return svg.empty_figure(title, _("No data.")) if not bars else _without_values(title, heading, rows)
    shown = known
    if len(known) > MAX_BARS:
        kept, rest = known[: MAX_BARS - 1], known[MAX_BARS - 1 :]
        shown = [*kept, ChartBar(_("other ({count})", count=len(rest)), sum(bar.value or 0.0 for bar in rest))]
    drawings = [_draw(title, shown, unit, chart_id, layout) for layout in (svg.WIDE, svg.NARROW)]
    return svg.figure(title, drawings, svg.table(heading, rows, caption=title, texts=(2,)))


def _without_values(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return svg.figure(
        title, (), svg.table(heading, rows, caption=title, texts=(2,)), notes=[_("Nothing to draw: no values.")]
    )


def _draw(title: str, bars: Sequence[ChartBar], unit: ChartUnit, chart_id: str, layout: svg.Layout) -> str:
    ends = [" ".join(filter(None, (format_value(bar.value, unit), bar.detail))) for bar in bars]
    left = 0.0 if layout.is_narrow else _label_width(bars)
    ends = [svg.fit_text(end, (layout.width - left) * 0.7) for end in ends]
    longest = max(bar.value or 0.0 for bar in bars)
    length = layout.width - left - max(map(svg.text_width, ends)) - 8
    row = _ROW[layout]
    content = [svg.pattern_definitions(chart_id, layout, 1)]
    for index, (bar, end) in enumerate(zip(bars, ends, strict=True)):
        y = index * row
        width = (bar.value or 0.0) / longest * length
        if layout.is_narrow:
            content.append(svg.text(0, y + 14, svg.fit_text(bar.label, layout.width)))
            y += 20
        else:
            content.append(svg.text(left - 8, y + 15, svg.fit_text(bar.label, left - 8), anchor="end"))
        name = f"{bar.label}: {end}"
        fill = svg.series_fill(chart_id, layout, 0)
        content.append(svg.rect(left, y + 2, width, _BAR_HEIGHT, class_="chart-bar", fill=fill, title=name))
        content.append(svg.text(left + width + 6, y + 15, end))
    description = "; ".join(f"{bar.label}: {end}" for bar, end in zip(bars[:5], ends, strict=False))
    height = len(bars) * row
    return svg.drawing("".join(content), height, chart_id=chart_id, layout=layout, title=title, description=description)


def _label_width(bars: Sequence[ChartBar]) -> float:
    return min(_LABEL_WIDTH, max(svg.text_width(bar.label) for bar in bars)) + 8
