"""Rendering of Markdown blocks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from rich.console import RenderableType
from rich.style import Style

from tejat.ui.terminal.render.highlight import highlight_lines
from tejat.ui.terminal.render.markdown.blocks import (
    BlockContainer,
    BlockNode,
    CodeBlock,
    HeadingBlock,
    HtmlBlock,
    ParagraphBlock,
    TableBlock,
    ThematicBreak,
)
from tejat.ui.terminal.render.markdown.inline_parser import parse_inline
from tejat.ui.terminal.render.tables import measure_columns, render_table
from tejat.ui.terminal.render.text_wrap import (
    NO_STYLE,
    StyledLine,
    StyledRun,
    WrappedLines,
    line_width,
    prefix_lines,
    wrap_runs,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme


def render_block(piece: BlockNode, theme: Theme) -> RenderableType:
    """Render one node, including the blank line before it."""
    return WrappedLines(lambda width: _lines(piece, theme, width))


_MIN_COLUMNS = 12
"""Least columns for the content of containers; with less they are not drawn."""
_BREAK_WIDTH = 24


def _lines(piece: BlockNode, theme: Theme, width: int) -> Iterator[StyledLine]:
    if piece.gap is not None:
        yield _continuation_prefix(piece.containers[: piece.gap], theme)
    first = [
        *_continuation_prefix(piece.containers[: piece.emitted_containers], theme),
        *_first_prefix(piece.containers[piece.emitted_containers :], theme),
    ]
    others = _continuation_prefix(piece.containers, theme)
    room = width - line_width(first)
    if room < _MIN_COLUMNS:
        yield from wrap_runs(first, width)
        first = others = []
        room = width
    yield from prefix_lines(_leaf_lines(piece, theme, room), first, others)


def _first_prefix(boxes: Sequence[BlockContainer], theme: Theme) -> StyledLine:
    """Return the prefix of the first line in these containers."""
    return [
        (f"{theme.glyphs.bar} ", theme.style(StyleRole.QUOTE))
        if box.is_quote
        else (f"{theme.glyphs.bullet if box.marker in ('-', '+', '*') else box.marker} ", theme.style(StyleRole.ACCENT))
        for box in boxes
    ]


def _continuation_prefix(boxes: Sequence[BlockContainer], theme: Theme) -> StyledLine:
    """Return the prefix of the other lines: bars of quotes, and blanks below item markers."""
    return [
        (text, style) if box.is_quote else (" " * len(text), NO_STYLE)
        for box, (text, style) in zip(boxes, _first_prefix(boxes, theme), strict=True)
    ]


def _leaf_lines(piece: BlockNode, theme: Theme, width: int) -> Iterable[StyledLine]:
    base = theme.style(StyleRole.QUOTE) if any(box.is_quote for box in piece.containers) else NO_STYLE
    match piece.leaf:
        case HeadingBlock(level, text):
            return wrap_runs(parse_inline(text, theme, _heading_style(level, theme)), width)
        case ParagraphBlock(lines):
            return wrap_runs(parse_inline(_join_lines(lines), theme, base), width)
        case HtmlBlock(lines):
            return [line for text in lines for line in wrap_runs([(text, base)], width)]
        case CodeBlock() as code:
            return _code_lines(code, theme, width)
        case TableBlock() as grid:
            return _table_lines(grid, theme, width, base)
        case ThematicBreak():
            return [[(theme.glyphs.rule * min(_BREAK_WIDTH, width), theme.style(StyleRole.QUIET))]]
        case _:
            assert_never(piece.leaf)


_FULL_LINE_CHARS = 50
"""Lines of at least this length were wrapped by their author's editor; shorter ones end on purpose."""


def _join_lines(lines: Sequence[str]) -> str:
    parts: list[str] = []
    for line in lines:
        text = line.strip(" ")
        if line.endswith("  "):
            parts += [text, "\n"]
        elif text.endswith("\\"):
            parts += [text[:-1], "\n"]
        else:
            parts += [text, " " if len(text) >= _FULL_LINE_CHARS else "\n"]
    return "".join(parts[:-1])


def _heading_style(level: int, theme: Theme) -> Style:
    """Return the style of a heading: the first level is underlined, those below the third are slanted."""
    style = theme.style(StyleRole.HEADING)
    if level == 1:
        return style + Style(underline=True)
    return style if level <= _MAX_UPRIGHT_LEVEL else style + Style(italic=True)


_MAX_UPRIGHT_LEVEL = 3


def _code_lines(code: CodeBlock, theme: Theme, width: int) -> Iterator[StyledLine]:
    """Yield code at the margin with nothing around its lines, so that copying them gives the code.

    Colours and blank lines set it apart; without colours it stands between rules. What was written after the fence is
    shown unless it is only the name of the language.
    """
    rule, quiet = theme.glyphs.rule * 2, theme.style(StyleRole.QUIET)
    if code.is_first and not theme.has_colours:
        yield from wrap_runs([(f"{rule} {code.info}" if code.info else rule, quiet)], width)
    elif code.is_first and not _is_language_name(code.info):
        yield from wrap_runs([(code.info, quiet)], width)
    lines = highlight_lines(code.lines, code.language, theme, before=code.before)
    yield from _colour_lines(lines, theme.style(StyleRole.CODE)) if _is_plain(code) else lines
    if code.is_last and not theme.has_colours:
        yield [(rule, quiet)]


def _is_language_name(info: str) -> bool:
    return info.replace("+", "").replace("-", "").replace("#", "").isalnum() or not info


def _is_plain(code: CodeBlock) -> bool:
    """Whether the code has too few colours of its own to be told from text: output, commands."""
    return code.language.lower() in _PLAIN_LANGUAGES


_PLAIN_LANGUAGES = frozenset(
    {"", "text", "txt", "plain", "plaintext", "output", "log", "console", "shell", "sh", "bash", "zsh", "fish"}
)


def _colour_lines(lines: Iterable[StyledLine], base: Style) -> Iterator[StyledLine]:
    return ([(text, base if style is NO_STYLE else style) for text, style in line] for line in lines)


def _table_lines(grid: TableBlock, theme: Theme, width: int, base: Style) -> Iterator[StyledLine]:
    headings = [_cell(cell, theme, base) for cell in grid.headings]
    rows = [[_cell(cell, theme, base) for cell in row] for row in grid.rows]
    measured = (
        rows if grid.first_rows is None else [[_cell(cell, theme, base) for cell in row] for row in grid.first_rows]
    )
    return render_table(
        headings,
        rows,
        theme,
        width,
        sizes=measure_columns([headings, *measured]),
        alignments=grid.alignments,
        is_continuation=grid.first_rows is not None,
    )


def _cell(text: str, theme: Theme, base: Style) -> list[StyledRun]:
    """Parse a table cell, in which only a tag can break the line."""
    for tag in ("<br>", "<br/>", "<br />"):
        text = text.replace(tag, "\n")
    return parse_inline(text, theme, base)
