"""Reports of commands, rendered for the terminal."""

from collections.abc import Iterator
from typing import assert_never

from rich.console import Group, RenderableType
from rich.style import Style

from tejat.core.ui.report import (
    DiffBlock,
    MarkdownBlock,
    Paragraph,
    Report,
    ReportBlock,
    ReportTable,
    SourceListing,
    Tone,
)
from tejat.ui.shared.diff.fit import block_rows
from tejat.ui.shared.text.sanitizer import make_terminal_safe
from tejat.ui.terminal.render.diff import render_diff_rows
from tejat.ui.terminal.render.highlight import highlight_source
from tejat.ui.terminal.render.markdown.stream import render_markdown
from tejat.ui.terminal.render.tables import TableRow, render_table
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, WrappedLines, line_width, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme


def render_report(report: Report, theme: Theme) -> RenderableType:
    """Render the blocks under their title, separated by blank lines except between paragraphs."""
    rendered: list[RenderableType] = []
    if report.title:
        title = (make_terminal_safe(report.title), theme.style(StyleRole.HEADING))
        rendered.append(WrappedLines(lambda width: wrap_runs([title], width)))
    before: ReportBlock | None = None
    for block in report.blocks:
        if before is not None and not (isinstance(before, Paragraph) and isinstance(block, Paragraph)):
            rendered.append(WrappedLines(lambda _: [[]]))
        rendered.append(_block(block, theme))
        before = block
    return Group(*rendered)


def _block(block: ReportBlock, theme: Theme) -> RenderableType:
    match block:
        case Paragraph():
            return WrappedLines(lambda width: _paragraph(block, theme, width))
        case ReportTable():
            headings, rows = _row(block.headings), [_row(row) for row in block.rows]
            return WrappedLines(lambda width: render_table(headings, rows, theme, width))
        case SourceListing():
            return WrappedLines(lambda _: highlight_source(make_terminal_safe(block.text), block.language, theme))
        case DiffBlock():
            return render_diff_rows(block_rows(block), theme)
        case MarkdownBlock():
            return render_markdown(block.text, theme)
        case _:
            assert_never(block)


def _paragraph(paragraph: Paragraph, theme: Theme, width: int) -> Iterator[StyledLine]:
    """Render a paragraph. Important tones have a symbol as well as a colour."""
    style = theme.style(_ROLES[paragraph.tone])
    signs = {Tone.GOOD: theme.glyphs.ok, Tone.WARNING: theme.glyphs.warning, Tone.BAD: theme.glyphs.failed}
    sign: StyledLine = [(f"{signs[paragraph.tone]} ", style)] if paragraph.tone in signs else []
    room = max(width - line_width(sign), 1)
    lines = (line for each in make_terminal_safe(paragraph.text).split("\n") for line in _indented(each, style, room))
    return prefix_lines(lines, sign, [("  ", NO_STYLE)] if sign else [])


def _indented(text: str, style: Style, width: int) -> Iterator[StyledLine]:
    """Wrap one line, keeping its indentation."""
    kept = text.lstrip(" ")
    indent = " " * min(len(text) - len(kept), width // 2)
    lines = wrap_runs([(kept, style)], max(width - len(indent), 1))
    return prefix_lines(lines, [(indent, NO_STYLE)], [(indent, NO_STYLE)]) if indent else iter(lines)


def _row(cells: tuple[str, ...]) -> TableRow:
    return [[(make_terminal_safe(cell), NO_STYLE)] for cell in cells]


_ROLES = {
    Tone.PLAIN: StyleRole.TEXT,
    Tone.STRONG: StyleRole.STRONG,
    Tone.QUIET: StyleRole.QUIET,
    Tone.GOOD: StyleRole.GOOD,
    Tone.WARNING: StyleRole.WARNING,
    Tone.BAD: StyleRole.BAD,
}
