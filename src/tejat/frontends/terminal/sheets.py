"""What a command has to show, drawn for a terminal."""

from collections.abc import Iterator
from typing import assert_never

from rich.console import Group, RenderableType
from rich.style import Style

from tejat.core.sheet import Block, Patch, Prose, Sheet, Source, Table, Tone, Words
from tejat.frontends.terminal.code import source_lines
from tejat.frontends.terminal.flow import NO_STYLE, Line, Lines, line_width, prefixed, wrapped
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.markdown_stream import draw_markdown
from tejat.frontends.terminal.patch import draw_patch
from tejat.frontends.terminal.safe_text import safe
from tejat.frontends.terminal.tables import TableRow, table_lines


def draw_sheet(sheet: Sheet, look: Look) -> RenderableType:
    """The blocks under their title. Paragraphs follow each other closely; a blank line parts other blocks."""
    drawn: list[RenderableType] = []
    if sheet.title:
        title = (safe(sheet.title), look.style(Part.HEADING))
        drawn.append(Lines(lambda width: wrapped([title], width)))
    before: Block | None = None
    for block in sheet.blocks:
        if before is not None and not (isinstance(before, Words) and isinstance(block, Words)):
            drawn.append(Lines(lambda _: [[]]))
        drawn.append(_block(block, look))
        before = block
    return Group(*drawn)


def _block(block: Block, look: Look) -> RenderableType:
    match block:
        case Words():
            return Lines(lambda width: _words(block, look, width))
        case Table():
            return Lines(
                lambda width: table_lines(_row(block.headings), [_row(row) for row in block.rows], look, width)
            )
        case Source():
            return Lines(lambda _: source_lines(safe(block.text), block.language, look))
        case Patch():
            return draw_patch(block.text, look)
        case Prose():
            return draw_markdown(block.text, look)
        case _:
            assert_never(block)


def _words(words: Words, look: Look, width: int) -> Iterator[Line]:
    """A tone that matters has a sign of its own, for whoever sees no colours."""
    style = look.style(_PARTS[words.tone])
    signs = {Tone.GOOD: look.glyphs.ok, Tone.WARNING: look.glyphs.warning, Tone.BAD: look.glyphs.failed}
    sign: Line = [(f"{signs[words.tone]} ", style)] if words.tone in signs else []
    room = max(width - line_width(sign), 1)
    lines = (line for each in safe(words.text).split("\n") for line in _indented(each, style, room))
    return prefixed(lines, sign, [("  ", NO_STYLE)] if sign else [])


def _indented(text: str, style: Style, width: int) -> Iterator[Line]:
    """One line, and what does not fit of it below its beginning."""
    kept = text.lstrip(" ")
    indent = " " * min(len(text) - len(kept), width // 2)
    lines = wrapped([(kept, style)], max(width - len(indent), 1))
    return prefixed(lines, [(indent, NO_STYLE)], [(indent, NO_STYLE)]) if indent else iter(lines)


def _row(cells: tuple[str, ...]) -> TableRow:
    return [[(safe(cell), NO_STYLE)] for cell in cells]


_PARTS = {
    Tone.PLAIN: Part.TEXT,
    Tone.STRONG: Part.STRONG,
    Tone.QUIET: Part.QUIET,
    Tone.GOOD: Part.GOOD,
    Tone.WARNING: Part.WARNING,
    Tone.BAD: Part.BAD,
}
