"""Tables that fit the width: columns shrink and cells wrap, else rows are stacked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.ui.terminal.render.cells import text_width
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, StyledRun, line_width, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme

TableCell: TypeAlias = Sequence[StyledRun]
TableRow: TypeAlias = Sequence[TableCell]


class ColumnAlignment(StrEnum):
    LEFT = "left"
    CENTRE = "centre"
    RIGHT = "right"


class ColumnSizes(Frozen):
    """Preferred width of each column, and the width of its longest word."""

    preferred: tuple[int, ...]
    minimum: tuple[int, ...]


def measure_columns(rows: Iterable[TableRow]) -> ColumnSizes:
    preferred: list[int] = []
    minimum: list[int] = []
    for row in rows:
        for at, cell in enumerate(row):
            if at == len(preferred):
                preferred.append(1)
                minimum.append(1)
            text = "".join(part for part, _ in cell)
            preferred[at] = max(preferred[at], *map(text_width, text.split("\n")))
            if preferred[at] > minimum[at]:
                minimum[at] = max(minimum[at], *map(text_width, text.split() or [""]))
    return ColumnSizes(tuple(preferred), tuple(minimum))


def render_table(
    headings: TableRow,
    rows: Sequence[TableRow],
    theme: Theme,
    width: int,
    *,
    sizes: ColumnSizes | None = None,
    alignments: Sequence[ColumnAlignment] = (),
    is_continuation: bool = False,
) -> Iterator[StyledLine]:
    """Render a table, with or without headings. Later parts of a long one are continuations with its first `sizes`."""
    every = [headings, *rows] if headings else rows
    between = (f" {theme.glyphs.bar} " if headings else "  ", NO_STYLE)
    columns = _fit_columns(sizes or measure_columns(every), width, between)
    if columns is None:
        yield from _stacked_rows(headings, rows, theme, width, is_continuation=is_continuation)
        return
    if headings and not is_continuation:
        strong = [[(text, style + theme.style(StyleRole.STRONG)) for text, style in cell] for cell in headings]
        yield from _row_lines(strong, columns, alignments, between)
        rule = theme.glyphs.rule
        cross = f"{rule}{theme.glyphs.cross}{rule}"
        yield [(cross.join(rule * size for size in columns), theme.style(StyleRole.QUIET))]
    for row in rows:
        yield from _row_lines(row, columns, alignments, between)


_MIN_COLUMN_WIDTH = 3
_MAX_WORD_WIDTH = 24
"""Longer words are broken before the rows of a table are stacked."""


def _fit_columns(sizes: ColumnSizes, width: int, between: StyledRun) -> list[int] | None:
    """Return the width of each column, None if they do not fit side by side."""
    if not sizes.preferred:
        return []
    room = width - line_width([between]) * (len(sizes.preferred) - 1)
    if sum(sizes.preferred) <= room:
        return list(sizes.preferred)
    columns = [
        min(liked, max(least, _MIN_COLUMN_WIDTH), _MAX_WORD_WIDTH)
        for liked, least in zip(sizes.preferred, sizes.minimum, strict=True)
    ]
    if sum(columns) > room:
        return None
    spare = room - sum(columns)
    missing = sum(sizes.preferred) - sum(columns)
    pairs = zip(columns, sizes.preferred, strict=True)
    grown = [column + (liked - column) * spare // missing for column, liked in pairs]
    widest = max(range(len(grown)), key=lambda at: sizes.preferred[at] - grown[at])
    grown[widest] += room - sum(grown)
    return grown


def _row_lines(
    row: TableRow, columns: Sequence[int], alignments: Sequence[ColumnAlignment], between: StyledRun
) -> Iterator[StyledLine]:
    cells = [wrap_runs(cell, size, breaks_urls=True) for cell, size in zip(row, columns, strict=False)]
    for at in range(max(map(len, cells), default=0)):
        line: StyledLine = []
        for number, size in enumerate(columns):
            if number:
                line.append(between)
            part = cells[number][at] if number < len(cells) and at < len(cells[number]) else []
            alignment = alignments[number] if number < len(alignments) else ColumnAlignment.LEFT
            line += _pad_cell(part, size, alignment)
        yield line


def _pad_cell(part: StyledLine, size: int, alignment: ColumnAlignment) -> StyledLine:
    spare = size - line_width(part)
    if spare <= 0:
        return part
    match alignment:
        case ColumnAlignment.LEFT:
            return [*part, (" " * spare, NO_STYLE)]
        case ColumnAlignment.RIGHT:
            return [(" " * spare, NO_STYLE), *part]
        case ColumnAlignment.CENTRE:
            return [(" " * (spare // 2), NO_STYLE), *part, (" " * (spare - spare // 2), NO_STYLE)]


def _stacked_rows(
    headings: TableRow, rows: Sequence[TableRow], theme: Theme, width: int, *, is_continuation: bool
) -> Iterator[StyledLine]:
    """Yield each row as `heading: cell` lines with rules between; without headings the first cell stands out."""
    strong, indent = theme.style(StyleRole.STRONG), [("  ", NO_STYLE)]
    for number, row in enumerate(rows):
        if headings and (number or is_continuation):
            yield [(theme.glyphs.rule * 3, theme.style(StyleRole.QUIET))]
        for at, cell in enumerate(row):
            if not any(text for text, _ in cell):
                continue
            heading = [(text, style + strong) for text, style in headings[at]] if at < len(headings) else []
            named = [*heading, (": ", strong), *cell] if heading else cell
            is_first = bool(headings) or at == 0
            yield from prefix_lines(wrap_runs(named, max(width - 2, 1)), [] if is_first else indent, indent)
    if not rows:
        yield from (line for heading in headings for line in wrap_runs(heading, width))
