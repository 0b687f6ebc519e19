"""Tables that fit: columns shrink and cells wrap, and where that does not do, each row is told in lines."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from tejat.core.value import value
from tejat.frontends.terminal.cells import width_of
from tejat.frontends.terminal.flow import NO_STYLE, Line, Run, line_width, prefixed, wrapped
from tejat.frontends.terminal.look import Look, Part

TableCell: TypeAlias = Sequence[Run]
TableRow: TypeAlias = Sequence[TableCell]


class Alignment(StrEnum):
    LEFT = "left"
    CENTRE = "centre"
    RIGHT = "right"


@value
class Sizes:
    """For each column, the columns of the terminal that it would like and those of its longest word."""

    liked: tuple[int, ...]
    least: tuple[int, ...]


def sizes_of(rows: Iterable[TableRow]) -> Sizes:
    liked: list[int] = []
    least: list[int] = []
    for row in rows:
        for at, cell in enumerate(row):
            if at == len(liked):
                liked.append(1)
                least.append(1)
            text = "".join(part for part, _ in cell)
            liked[at] = max(liked[at], *map(width_of, text.split("\n")))
            if liked[at] > least[at]:
                least[at] = max(least[at], *map(width_of, text.split() or [""]))
    return Sizes(tuple(liked), tuple(least))


def table_lines(
    headings: TableRow,
    rows: Sequence[TableRow],
    look: Look,
    width: int,
    *,
    sizes: Sizes | None = None,
    alignments: Sequence[Alignment] = (),
    is_rest: bool = False,
) -> Iterator[Line]:
    """The table in lines. `headings` may be empty.

    A long table comes in parts: every part gets the sizes of the first, and the others are a rest, without headings.
    """
    every = [headings, *rows] if headings else rows
    between = _between(look, has_headings=bool(headings))
    columns = _fitted(sizes or sizes_of(every), width, between)
    if columns is None:
        yield from _stacked(headings, rows, look, width, is_rest=is_rest)
        return
    if headings and not is_rest:
        strong = [[(text, style + look.style(Part.STRONG)) for text, style in cell] for cell in headings]
        yield from _row_lines(strong, columns, alignments, between)
        rule = look.glyphs.rule
        cross = f"{rule}{look.glyphs.cross}{rule}"
        yield [(cross.join(rule * size for size in columns), look.style(Part.QUIET))]
    for row in rows:
        yield from _row_lines(row, columns, alignments, between)


def _between(look: Look, *, has_headings: bool) -> Run:
    return (f" {look.glyphs.bar} ", NO_STYLE) if has_headings else ("  ", NO_STYLE)


_SMALLEST = 3
_LONGEST_WORD = 24
"""Words longer than this are cut before a whole table is told in lines."""


def _fitted(sizes: Sizes, width: int, between: Run) -> list[int] | None:
    """How wide each column becomes; None where they cannot stand side by side."""
    if not sizes.liked:
        return []
    room = width - line_width([between]) * (len(sizes.liked) - 1)
    if sum(sizes.liked) <= room:
        return list(sizes.liked)
    columns = [
        min(liked, max(least, _SMALLEST), _LONGEST_WORD) for liked, least in zip(sizes.liked, sizes.least, strict=True)
    ]
    if sum(columns) > room:
        return None
    spare = room - sum(columns)
    wanting = sum(sizes.liked) - sum(columns)
    grown = [column + (liked - column) * spare // wanting for column, liked in zip(columns, sizes.liked, strict=True)]
    widest = max(range(len(grown)), key=lambda at: sizes.liked[at] - grown[at])
    grown[widest] += room - sum(grown)
    return grown


def _row_lines(row: TableRow, columns: Sequence[int], alignments: Sequence[Alignment], between: Run) -> Iterator[Line]:
    cells = [wrapped(cell, size, cuts_addresses=True) for cell, size in zip(row, columns, strict=False)]
    for at in range(max(map(len, cells), default=0)):
        line: Line = []
        for number, size in enumerate(columns):
            if number:
                line.append(between)
            part = cells[number][at] if number < len(cells) and at < len(cells[number]) else []
            alignment = alignments[number] if number < len(alignments) else Alignment.LEFT
            line += _padded(part, size, alignment)
        yield line


def _padded(part: Line, size: int, alignment: Alignment) -> Line:
    spare = size - line_width(part)
    if spare <= 0:
        return part
    match alignment:
        case Alignment.LEFT:
            return [*part, (" " * spare, NO_STYLE)]
        case Alignment.RIGHT:
            return [(" " * spare, NO_STYLE), *part]
        case Alignment.CENTRE:
            return [(" " * (spare // 2), NO_STYLE), *part, (" " * (spare - spare // 2), NO_STYLE)]


def _stacked(headings: TableRow, rows: Sequence[TableRow], look: Look, width: int, *, is_rest: bool) -> Iterator[Line]:
    """Each row as `heading: cell` lines, with short rules between; without headings, the first cell stands out."""
    strong, indent = look.style(Part.STRONG), [("  ", NO_STYLE)]
    for number, row in enumerate(rows):
        if headings and (number or is_rest):
            yield [(look.glyphs.rule * 3, look.style(Part.QUIET))]
        for at, cell in enumerate(row):
            if not any(text for text, _ in cell):
                continue
            heading = [(text, style + strong) for text, style in headings[at]] if at < len(headings) else []
            named = [*heading, (": ", strong), *cell] if heading else cell
            is_first = bool(headings) or at == 0
            yield from prefixed(wrapped(named, max(width - 2, 1)), [] if is_first else indent, indent)
    if not rows:
        yield from (line for heading in headings for line in wrapped(heading, width))
