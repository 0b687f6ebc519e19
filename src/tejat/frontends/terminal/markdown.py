"""Markdown drawn for a terminal, piece by piece."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.console import Group, RenderableType
from rich.style import Style

from tejat.frontends.terminal.code import code_lines
from tejat.frontends.terminal.flow import NO_STYLE, Line, Lines, Run, line_width, prefixed, wrapped
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.markdown_inline import inline
from tejat.frontends.terminal.markdown_pieces import Box, Break, Code, Grid, Heading, Markup, Paragraph, Piece
from tejat.frontends.terminal.tables import sizes_of, table_lines


def draw_pieces(pieces: Iterable[Piece], look: Look) -> RenderableType:
    return Group(*(draw_piece(piece, look) for piece in pieces))


def draw_piece(piece: Piece, look: Look) -> RenderableType:
    """One piece under the one before it, with the blank line between them."""
    return Lines(lambda width: _lines(piece, look, width))


_NARROWEST = 12
"""Boxes leave at least so many columns to what is in them, or are not drawn as boxes."""
_BREAK_WIDTH = 24


def _lines(piece: Piece, look: Look, width: int) -> Iterator[Line]:
    if piece.gap is not None:
        yield _later(piece.boxes[: piece.gap], look)
    first = [*_later(piece.boxes[: piece.begun], look), *_first(piece.boxes[piece.begun :], look)]
    others = _later(piece.boxes, look)
    room = width - line_width(first)
    if room < _NARROWEST:
        yield from wrapped(first, width)
        first = others = []
        room = width
    yield from prefixed(_leaf_lines(piece, look, room), first, others)


def _first(boxes: Sequence[Box], look: Look) -> Line:
    """What stands before the first line in these boxes."""
    return [
        (f"{look.glyphs.bar} ", look.style(Part.QUOTE))
        if box.is_quote
        else (f"{look.glyphs.bullet if box.marker in ('-', '+', '*') else box.marker} ", look.style(Part.ACCENT))
        for box in boxes
    ]


def _later(boxes: Sequence[Box], look: Look) -> Line:
    """What stands before the others: bars of quotes, and blanks below the markers of items."""
    return [
        (text, style) if box.is_quote else (" " * len(text), NO_STYLE)
        for box, (text, style) in zip(boxes, _first(boxes, look), strict=True)
    ]


def _leaf_lines(piece: Piece, look: Look, width: int) -> Iterable[Line]:
    base = look.style(Part.QUOTE) if any(box.is_quote for box in piece.boxes) else NO_STYLE
    match piece.leaf:
        case Heading(level, text):
            style = look.style(Part.HEADING)
            return wrapped([(f"{'#' * level} ", look.style(Part.QUIET)), *inline(text, look, style)], width)
        case Paragraph(lines):
            return wrapped(inline(_joined(lines), look, base), width)
        case Markup(lines):
            return [line for text in lines for line in wrapped([(text, base)], width)]
        case Code() as code:
            return _code(code, look, width)
        case Grid() as grid:
            return _grid(grid, look, width, base)
        case Break():
            return [[(look.glyphs.rule * min(_BREAK_WIDTH, width), look.style(Part.QUIET))]]
        case _:
            assert_never(piece.leaf)


_FULL_LINE = 50
"""A line of so many characters was broken because it was full; a shorter one ends where its author wanted."""


def _joined(lines: Sequence[str]) -> str:
    parts: list[str] = []
    for line in lines:
        text = line.strip(" ")
        if line.endswith("  "):
            parts += [text, "\n"]
        elif text.endswith("\\"):
            parts += [text[:-1], "\n"]
        else:
            parts += [text, " " if len(text) >= _FULL_LINE else "\n"]
    return "".join(parts[:-1])


def _code(code: Code, look: Look, width: int) -> Iterator[Line]:
    """Rules above and below tell code from text without colours, and copying what is between them gives the code."""
    rule, quiet = look.glyphs.rule * 2, look.style(Part.QUIET)
    if code.is_first:
        yield from wrapped([(f"{rule} {code.said}" if code.said else rule, quiet)], width)
    yield from code_lines(code.lines, code.language, look, before=code.before)
    if code.is_last:
        yield [(rule, quiet)]


def _grid(grid: Grid, look: Look, width: int, base: Style) -> Iterator[Line]:
    headings = [_cell(cell, look, base) for cell in grid.headings]
    rows = [[_cell(cell, look, base) for cell in row] for row in grid.rows]
    measured = (
        rows if grid.first_rows is None else [[_cell(cell, look, base) for cell in row] for row in grid.first_rows]
    )
    return table_lines(
        headings,
        rows,
        look,
        width,
        sizes=sizes_of([headings, *measured]),
        alignments=grid.alignments,
        is_rest=grid.first_rows is not None,
    )


def _cell(text: str, look: Look, base: Style) -> list[Run]:
    """In a table a line can only be ended by a tag."""
    for tag in ("<br>", "<br/>", "<br />"):
        text = text.replace(tag, "\n")
    return inline(text, look, base)
