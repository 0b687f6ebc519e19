"""Collapsible text: a few lines in the scrollback, all of it on demand."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding

from tejat.core.frozen import frozen
from tejat.core.i18n import _, ngettext
from tejat.ui.terminal.render.text_rows import single_line
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, WrappedLines, fold_line, prefix_lines
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.diff import render_diff

MAX_EXPANDED_LINES = 2000
"""Most lines of an expanded result."""

_HEAD_LINES, _TAIL_LINES = 3, 5
_MAX_DIFF_LINES = 20
_MAX_COLLAPSED_CHARS, _MAX_EXPANDED_CHARS = 400, 4000
_INDENT = "  "


@frozen
class CollapsibleText:
    """A text with a title; `is_diff` for a diff."""

    title: str
    text: str
    is_diff: bool = False

    @property
    def fits_collapsed(self) -> bool:
        """Whether the collapsed form shows everything."""
        lines = self.text.split("\n")
        room = _MAX_DIFF_LINES if self.is_diff else _HEAD_LINES + _TAIL_LINES
        return len(lines) <= room and all(len(line) <= _MAX_COLLAPSED_CHARS for line in lines)

    def head(self, limit: int) -> tuple[str, str]:
        """Return the first lines, clipped, and a label for the omitted rest."""
        lines = self.text.split("\n")
        shown = "\n".join(line[:_MAX_COLLAPSED_CHARS] for line in lines[:limit])
        return shown, _omitted_label(len(lines) - limit) if len(lines) > limit else _("(Ctrl-O shows all of it)")

    def render_collapsed(self, theme: Theme) -> RenderableType:
        """Render the first and last lines, or the first ones of a diff, and the number omitted."""
        lines = _clip_lines(self.text.split("\n"), _MAX_COLLAPSED_CHARS, theme)
        omitted = len(lines) - _HEAD_LINES - _TAIL_LINES
        if omitted > 0 and not self.is_diff:
            label = _render_quiet(f"{theme.glyphs.more} {_omitted_label(omitted)}", theme)
            return Group(_render_lines(lines[:_HEAD_LINES]), label, _render_lines(lines[-_TAIL_LINES:]))
        body = self._render_body(lines, theme, max_lines=_MAX_DIFF_LINES)
        return body if self.fits_collapsed else Group(body, _render_quiet(_("(Ctrl-O shows all of it)"), theme))

    def render_expanded(self, theme: Theme) -> RenderableType:
        """Render all of it, up to MAX_EXPANDED_LINES."""
        lines = self.text.split("\n")
        body = self._render_body(_clip_lines(lines[:MAX_EXPANDED_LINES], _MAX_EXPANDED_CHARS, theme), theme)
        title = WrappedLines(lambda width: fold_line([(single_line(self.title), theme.style(StyleRole.STRONG))], width))
        if len(lines) <= MAX_EXPANDED_LINES:
            return Group(title, body)
        more = ngettext(
            "{count} more line is not shown. Run it again with its output in a file to see all of it.",
            "{count} more lines are not shown. Run it again with its output in a file to see all of them.",
            len(lines) - MAX_EXPANDED_LINES,
        )
        return Group(title, body, _render_quiet(f"{theme.glyphs.more} {more}", theme))

    def _render_body(self, lines: list[str], theme: Theme, *, max_lines: int | None = None) -> RenderableType:
        if not self.is_diff:
            return _render_lines(lines)
        return Padding(render_diff("\n".join(lines), theme, max_lines=max_lines), (0, 0, 0, len(_INDENT)))


def _omitted_label(count: int) -> str:
    return ngettext("{count} more line (Ctrl-O shows it)", "{count} more lines (Ctrl-O shows them)", count)


def _clip_lines(lines: list[str], limit: int, theme: Theme) -> list[str]:
    return [line if len(line) <= limit else f"{line[:limit]}{theme.glyphs.more}" for line in lines]


def _render_lines(lines: list[str]) -> RenderableType:
    """Render lines as they are, folded at the width."""

    def layout(width: int) -> Iterator[StyledLine]:
        start, room = [(_INDENT, NO_STYLE)], max(width - len(_INDENT), 1)
        for line in lines:
            yield from prefix_lines(fold_line([(single_line(line), NO_STYLE)], room), start, start)

    return WrappedLines(layout)


def _render_quiet(words: str, theme: Theme) -> RenderableType:
    return WrappedLines(lambda width: fold_line([(f"{_INDENT}{words}", theme.style(StyleRole.QUIET))], width))
