"""Pieces of SVG: elements, texts that fit, patterns, legends and the frame around a chart."""

from collections.abc import Collection, Iterable, Sequence
from unicodedata import east_asian_width

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.ui.html.markup import escape_line

FONT_SIZE = 13
"""In units of the drawing, which is never scaled below 0.85."""
SERIES_COUNT = 7
"""Colours and patterns that can be told apart."""

_CHAR_WIDTHS = {**dict.fromkeys("iljtfrI.,:;'|!()[] ", 5.4), **dict.fromkeys("mwMW%@", 12.8)}
"""Of a wide sans-serif font at this size; other characters of ASCII have the usual width."""
_CHAR_WIDTH = 8.4
_WIDE_CHAR_WIDTH = 13.5
_SWATCH = 14.0
_LEGEND_ROW = 22.0
_PATTERNS = (
    "",
    '<path class="hatch" d="M0 8L8 0M-2 2L2 -2M6 10L10 6"/>',
    '<circle class="hatch-dot" cx="2" cy="2" r="1.3"/><circle class="hatch-dot" cx="6" cy="6" r="1.3"/>',
    '<path class="hatch" d="M0 4H8"/>',
    '<path class="hatch" d="M4 0V8M0 4H8"/>',
    '<path class="hatch" d="M0 0L8 8M-2 6L2 10M6 -2L10 2"/>',
    '<path class="hatch" d="M4 0V8"/>',
)


class Layout(Frozen):
    """A drawing for a range of widths. The page shows the one that fits, so texts are never scaled below 11 px."""

    name: str
    width: float

    @property
    def is_narrow(self) -> bool:
        return self is NARROW


WIDE = Layout("wide", 720.0)
NARROW = Layout("narrow", 340.0)


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def rect(x: float, y: float, width: float, height: float, *, class_: str, fill: str = "", title: str = "") -> str:
    """A rectangle, with a title that is shown on hovering."""
    geometry = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    paint = f' fill="{fill}"' if fill else ""
    inner = f"<title>{escape_line(title)}</title>" if title else ""
    return f'<rect class="{class_}" {geometry}{paint}>{inner}</rect>'


def line(x1: float, y1: float, x2: float, y2: float, *, class_: str) -> str:
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line class="{class_}" {ends}/>'


def text(x: float, y: float, content: str, *, anchor: str = "start", class_: str = "chart-text") -> str:
    return (
        f'<text class="{class_}" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}">{escape_line(content)}</text>'
    )


def text_width(content: str) -> float:
    """The width of a text, estimated generously because the font is not known."""
    return sum(
        _WIDE_CHAR_WIDTH if east_asian_width(each) in "WF" else _CHAR_WIDTHS.get(each, _CHAR_WIDTH)
        for each in sanitize_line(content)
    )


def fit_text(content: str, width: float) -> str:
    """The text, with its end cut off if it is wider."""
    content = sanitize_line(content)
    if text_width(content) <= width:
        return content
    while content and text_width(content) + _CHAR_WIDTH > width:
        content = content[:-1]
    return content.rstrip() + "…"


def series_fill(chart_id: str, layout: Layout, index: int) -> str:
    """The fill of a series: its colour with a pattern, which tells it apart without colours."""
    return f"url(#{chart_id}-{layout.name}-{index % SERIES_COUNT})"


def pattern_definitions(chart_id: str, layout: Layout, count: int) -> str:
    """The patterns of the first `count` series."""
    patterns = "".join(
        f'<pattern id="{chart_id}-{layout.name}-{index}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect class="series-{index}" width="8" height="8"/>{_PATTERNS[index]}</pattern>'
        for index in range(min(count, SERIES_COUNT))
    )
    return f"<defs>{patterns}</defs>"


def legend(entries: Sequence[tuple[int, str]], chart_id: str, layout: Layout) -> tuple[str, float]:
    """The markup of a legend at the top of a chart, and its height. An entry is the number and name of a series."""
    x, y, pieces = 0.0, 0.0, list[str]()
    for index, name in entries:
        label = fit_text(name, layout.width - _SWATCH - 8)
        width = _SWATCH + 6 + text_width(label) + 16
        if x and x + width - 16 > layout.width:
            x, y = 0.0, y + _LEGEND_ROW
        pieces.append(rect(x, y + 2, _SWATCH, _SWATCH, class_="chart-bar", fill=series_fill(chart_id, layout, index)))
        pieces.append(text(x + _SWATCH + 6, y + _SWATCH, label))
        x += width
    return "".join(pieces), (y + _LEGEND_ROW + 6 if entries else 0.0)


def drawing(content: str, height: float, *, chart_id: str, layout: Layout, title: str, description: str) -> str:
    """A whole SVG element with its title and description for screen readers."""
    name = f"{chart_id}-{layout.name}"
    return (
        f'<svg class="chart-{layout.name}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="0 0 {number(layout.width)} {number(height)}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-title">{escape_line(title)}</title><desc id="{name}-desc">{escape_line(description)}</desc>'
        f"{content}</svg>"
    )


def figure(title: str, drawings: Iterable[str], table: str, *, notes: Iterable[str] = ()) -> str:
    """A chart with its title, the drawings for wide and narrow pages, notes, and the table behind it."""
    written = "".join(f'<p class="chart-note">{escape_line(note)}</p>' for note in notes)
    summary = escape_line(_("Table"))
    return (
        f'<figure class="chart"><figcaption>{escape_line(title)}</figcaption>{"".join(drawings)}{written}'
        f"<details><summary>{summary}</summary>{table}</details></figure>"
    )


def empty_figure(title: str, reason: str) -> str:
    """A chart without values."""
    content = f'<p class="chart-empty">{escape_line(reason)}</p>'
    return f'<figure class="chart"><figcaption>{escape_line(title)}</figcaption>{content}</figure>'


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, texts: Collection[int] = ()) -> str:
    """A table whose first column names the rows; the columns in `texts` are no figures either.

    It scrolls by itself where it is too wide.
    """
    classes = [' class="chart-words"' if column in texts else "" for column in range(len(heading))]
    head = "".join(
        f'<th scope="col"{class_}>{escape_line(cell)}</th>' for cell, class_ in zip(heading, classes, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{escape_line(row[0])}</th>'
        + "".join(f"<td{class_}>{escape_line(cell)}</td>" for cell, class_ in zip(row[1:], classes[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="chart-table" tabindex="0" role="group" aria-label="{escape_line(caption)}"><table>'
        f"<caption>{escape_line(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
