"""Unified diffs with trailing blanks and tabs made visible."""

import re
from collections.abc import Iterable, Iterator

from rich.console import RenderableType

from tejat.core.i18n import ngettext
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.diff.hunks import DiffHunk, parse_hunks
from tejat.ui.terminal.render.sanitizer import TAB_WIDTH
from tejat.ui.terminal.render.text_wrap import StyledLine, WrappedLines, fold_line, line_width, prefix_lines
from tejat.ui.terminal.render.theme import StyleRole, Theme


def render_diff(diff: str, theme: Theme, *, max_lines: int | None = None) -> RenderableType:
    """Render a diff, or the hunks that fit into `max_lines` (of the first at least a part) and a count of the rest."""
    hunks = parse_hunks(diff)
    shown = len(hunks) if max_lines is None else _count_fitting(hunks, max_lines)

    def layout(width: int) -> Iterator[StyledLine]:
        for hunk in hunks[:shown]:
            lines = hunk.lines[:max_lines]
            yield from _wrap_lines((_file_line(name, theme) for name in hunk.names), theme, width)
            yield from _wrap_lines((_diff_line(line, theme) for line in (hunk.heading, *lines) if line), theme, width)
            if more := len(hunk.lines) - len(lines):
                yield _note_line(ngettext("{count} more line", "{count} more lines", more), theme)
        if shown < len(hunks):
            yield _note_line(_omitted_label(hunks[shown:]), theme)

    return WrappedLines(layout)


def _count_fitting(hunks: tuple[DiffHunk, ...], max_lines: int) -> int:
    used = 0
    for number, hunk in enumerate(hunks):
        used += len(hunk.lines) + 1
        if used > max_lines:
            return max(number, 1)
    return len(hunks)


def _omitted_label(rest: tuple[DiffHunk, ...]) -> str:
    return ngettext(
        "{count} more place, +{added} -{removed}",
        "{count} more places, +{added} -{removed}",
        len(rest),
        added=sum(hunk.added for hunk in rest),
        removed=sum(hunk.removed for hunk in rest),
    )


def _note_line(words: str, theme: Theme) -> StyledLine:
    return [(f"{theme.glyphs.more} {words}", theme.style(StyleRole.QUIET))]


def _wrap_lines(lines: Iterable[StyledLine], theme: Theme, width: int) -> Iterator[StyledLine]:
    """Wrap lines, with a mark in the sign column of continuations."""
    mark = [(theme.glyphs.more, theme.style(StyleRole.QUIET))]
    for line in lines:
        yield from [line] if line_width(line) <= width else prefix_lines(fold_line(line, max(width - 1, 1)), [], mark)


_ROLES = {"+": StyleRole.ADDED, "-": StyleRole.REMOVED, "@": StyleRole.HUNK, "\\": StyleRole.QUIET}


def _file_line(line: str, theme: Theme) -> StyledLine:
    return [(sanitize_text(line).expandtabs(TAB_WIDTH), theme.style(StyleRole.STRONG))]


def _diff_line(line: str, theme: Theme) -> StyledLine:
    style = theme.style(_ROLES.get(line[:1], StyleRole.TEXT))
    if not line.startswith(("+", "-")):
        return [(sanitize_text(line).expandtabs(TAB_WIDTH), style)]
    text = sanitize_text(line)
    words = text[0] + text[1:].rstrip(" \t")
    marked = style + theme.style(StyleRole.SELECTED)
    rendered: StyledLine = []
    column = -1  # the sign is before the first column
    for part in re.split("(\t)", words):
        shown = _tab(column, theme) if part == "\t" else part
        rendered.append((shown, theme.style(StyleRole.QUIET) if part == "\t" else style))
        column += len(shown)
    for blank in text[len(words) :]:
        shown = _tab(column, theme) if blank == "\t" else theme.glyphs.blank
        rendered.append((shown, marked))
        column += len(shown)
    return [run for run in rendered if run[0]]


def _tab(column: int, theme: Theme) -> str:
    return theme.glyphs.arrow + " " * (TAB_WIDTH - 1 - column % TAB_WIDTH)
