"""Collapsible details of the transcript: a few lines in the scrollback, all of them on demand."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.style import Style

from tejat.core.i18n import _, ngettext
from tejat.ui.shared.calls.excerpt import HEAD_LINES, TAIL_LINES, ExcerptRow, excerpt_output
from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import DiffRow, build_diff_rows, clip_rows, strip_blank_context
from tejat.ui.terminal.render.diff import render_diff_rows
from tejat.ui.terminal.render.text_rows import single_line
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, WrappedLines, fold_line, prefix_lines
from tejat.ui.terminal.render.theme import StyleRole, Theme

MAX_EXPANDED_LINES = 2000
"""Most lines of an expanded result."""

_MAX_DIFF_ROWS = 20
_CONTEXT_LINES = 1
"""Unchanged lines around a change, few because most changes were shown in a question before."""
_MAX_COLLAPSED_CHARS, _MAX_EXPANDED_CHARS = 400, 4000
_WIDE_COLUMNS = 50
"""Least width at which details are indented below their title by more than two columns."""


class Collapsible(Protocol):
    """Details that can be shown in part or whole."""

    @property
    def fits_collapsed(self) -> bool:
        """Whether the collapsed form shows everything."""
        ...

    def render_collapsed(self, theme: Theme) -> RenderableType: ...

    def render_whole(self, theme: Theme) -> RenderableType: ...

    def render_expanded(self, theme: Theme) -> RenderableType:
        """Render all of it under its title."""
        ...


class CollapsibleOutput:
    """Output of a command or tool, sanitized: `head` and `tail` lines of it. Of a failure errors are kept instead.

    A `command` of several lines is shown with the whole output only.
    """

    def __init__(
        self,
        title: str,
        text: str,
        *,
        is_failure: bool = False,
        role: StyleRole = StyleRole.TEXT,
        head: int = HEAD_LINES,
        tail: int = TAIL_LINES,
        command: str = "",
    ) -> None:
        self._title = title
        self._lines = text.split("\n") if text else []
        self._is_failure = is_failure
        self._role = role
        self._head, self._tail = head, tail
        self._command = command

    @cached_property
    def _excerpt(self) -> tuple[ExcerptRow, ...]:
        return excerpt_output(self._lines, is_failure=self._is_failure, head=self._head, tail=self._tail)

    @property
    def is_empty(self) -> bool:
        return not self._lines

    @property
    def fits_collapsed(self) -> bool:
        return not self._command and self._shows_output

    @property
    def _shows_output(self) -> bool:
        return all(not row.hidden and len(row.text) <= _MAX_COLLAPSED_CHARS for row in self._excerpt)

    def head(self, limit: int) -> tuple[str, str]:
        """Return the first lines, clipped, and a label for the omitted rest."""
        shown = "\n".join(line[:_MAX_COLLAPSED_CHARS] for line in self._lines[:limit])
        omitted = len(self._lines) - limit
        return shown, _omitted_label(ExcerptRow(hidden=omitted)) if omitted > 0 else _expand_label()

    def render_collapsed(self, theme: Theme) -> RenderableType:
        """Render the excerpt, with labels for what it leaves out."""
        body = _render_rows(self._excerpt, theme, self._role, max_chars=_MAX_COLLAPSED_CHARS)
        if any(row.hidden for row in self._excerpt) or self.fits_collapsed:
            return body
        label = _("(Ctrl-O to show the whole command)") if self._shows_output else _expand_label()
        return Group(body, _render_quiet(label, theme))

    def render_whole(self, theme: Theme) -> RenderableType:
        """Render all of it, up to MAX_EXPANDED_LINES."""
        rows = [ExcerptRow(line) for line in self._lines[:MAX_EXPANDED_LINES]]
        body: RenderableType = _render_rows(rows, theme, self._role, max_chars=_MAX_EXPANDED_CHARS)
        if self._command:
            body = Group(_render_command(self._command, theme), body)
        if len(self._lines) <= MAX_EXPANDED_LINES:
            return body
        more = ngettext(
            "{count} more line is not shown. Redirect the output to a file to see all of it.",
            "{count} more lines are not shown. Redirect the output to a file to see all of them.",
            len(self._lines) - MAX_EXPANDED_LINES,
        )
        return Group(body, _render_quiet(f"{theme.glyphs.more} {more}", theme))

    def render_expanded(self, theme: Theme) -> RenderableType:
        return Group(_render_title(self._title, theme), self.render_whole(theme))


class CollapsibleDiff:
    """The diff of one file, as it came from the tool."""

    def __init__(self, title: str, diff: str, *, file_name: str = "") -> None:
        self._title = title
        self._file_name = file_name
        self._rows = strip_blank_context(build_diff_rows(diff, context=_CONTEXT_LINES, with_files=False))

    @property
    def fits_collapsed(self) -> bool:
        return len(self._rows) <= _MAX_DIFF_ROWS and clip_rows(self._rows, _MAX_COLLAPSED_CHARS) == self._rows

    def render_collapsed(self, theme: Theme) -> RenderableType:
        """Render the rows that fit, with a gap that says how many are hidden."""
        rows = clip_rows(fit_rows(self._rows, _MAX_DIFF_ROWS), _MAX_COLLAPSED_CHARS)
        body = _IndentedDiff(rows, theme, self._file_name)
        return body if self.fits_collapsed else Group(body, _render_quiet(_expand_label(), theme))

    def render_whole(self, theme: Theme) -> RenderableType:
        rows = clip_rows(fit_rows(self._rows, MAX_EXPANDED_LINES), _MAX_EXPANDED_CHARS)
        return _IndentedDiff(rows, theme, self._file_name)

    def render_expanded(self, theme: Theme) -> RenderableType:
        return Group(_render_title(self._title, theme), self.render_whole(theme))


def detail_indents(theme: Theme, width: int) -> tuple[str, str]:
    """Return the indentation of the first line of details below a title, and of the others."""
    return (f"  {theme.glyphs.corner} ", "    ") if width >= _WIDE_COLUMNS else ("  ", "  ")


class _IndentedDiff:
    """Rows of a diff, indented like other details."""

    def __init__(self, rows: Sequence[DiffRow], theme: Theme, file_name: str) -> None:
        self._diff = render_diff_rows(rows, theme, file_name=file_name)
        self._theme = theme

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = detail_indents(self._theme, options.max_width)[1]
        yield Padding(self._diff, (0, 0, 0, len(indent)))


def _expand_label() -> str:
    return _("(Ctrl-O to show all of it)")


def _omitted_label(gap: ExcerptRow) -> str:
    if gap.hidden_errors:
        return ngettext(
            "{count} more line, with {errors} errors (Ctrl-O to show)",
            "{count} more lines, with {errors} errors (Ctrl-O to show)",
            gap.hidden,
            errors=gap.hidden_errors,
        )
    return ngettext("{count} more line (Ctrl-O to show)", "{count} more lines (Ctrl-O to show)", gap.hidden)


def _render_title(title: str, theme: Theme) -> RenderableType:
    return WrappedLines(lambda width: fold_line([(single_line(title), theme.style(StyleRole.STRONG))], width))


def _render_rows(rows: Sequence[ExcerptRow], theme: Theme, role: StyleRole, *, max_chars: int) -> RenderableType:
    """Render lines as they are, folded at the width, and labels for the gaps."""

    def styled(row: ExcerptRow) -> StyledLine:
        if row.hidden:
            return [(f"{theme.glyphs.more} {_omitted_label(row)}", theme.style(StyleRole.QUIET))]
        text = row.text if len(row.text) <= max_chars else f"{row.text[:max_chars]}{theme.glyphs.more}"
        return [(single_line(text), _error_style(theme) if row.is_error else theme.style(role))]

    def layout(width: int) -> Iterator[StyledLine]:
        first, others = detail_indents(theme, width)
        start = [(first, theme.style(StyleRole.QUIET))]
        room = max(width - len(others), 1)
        for row in rows:
            line = styled(row)
            line = [(text[:room], style) for text, style in line] if _is_rule(row.text) else line
            yield from prefix_lines(fold_line(line, room), start, [(others, NO_STYLE)])
            start = [(others, NO_STYLE)]

    return WrappedLines(layout)


def _render_command(command: str, theme: Theme) -> RenderableType:
    def layout(width: int) -> Iterator[StyledLine]:
        indent = detail_indents(theme, width)[1]
        start = [(f"{indent}$ ", theme.style(StyleRole.QUIET))]
        others = [(f"{indent}  ", NO_STYLE)]
        for line in command.split("\n")[:MAX_EXPANDED_LINES]:
            yield from prefix_lines(fold_line([(single_line(line), NO_STYLE)], max(width - 6, 1)), start, others)
            start = others

    return WrappedLines(layout)


def _is_rule(text: str) -> bool:
    """Whether a line only separates others, so that its length does not matter."""
    return text[:1] in _RULE_CHARACTERS and len(set(text)) == 1


_RULE_CHARACTERS = frozenset("-=_*~#")


def _error_style(theme: Theme) -> Style:
    """Return the style of an error line, which is bold only where there are no colours."""
    return theme.style(StyleRole.REMOVED if theme.has_colours else StyleRole.BAD)


def _render_quiet(words: str, theme: Theme) -> RenderableType:
    def layout(width: int) -> Iterator[StyledLine]:
        indent = detail_indents(theme, width)[1]
        line = [(words, theme.style(StyleRole.QUIET))]
        room = max(width - len(indent), 1)
        return prefix_lines(fold_line(line, room), [(indent, NO_STYLE)], [(indent, NO_STYLE)])

    return WrappedLines(layout)
