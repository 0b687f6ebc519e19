"""Diffs for the terminal: line numbers, signs, syntax colours, coloured lines and marked words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rich.console import RenderableType
from rich.style import Style
from rich.text import Text
from wcwidth import iter_graphemes

from tejat.core.frozen import Frozen
from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, clip_label, clip_rows, gap_label
from tejat.ui.shared.diff.word_marks import Spans, split_at_marks
from tejat.ui.shared.text.sanitizer import TAB_WIDTH
from tejat.ui.terminal.render.cells import text_width
from tejat.ui.terminal.render.diff_syntax import highlight_diff
from tejat.ui.terminal.render.palettes.colours import readable_on
from tejat.ui.terminal.render.rich_output import color_system
from tejat.ui.terminal.render.text_wrap import (
    NO_STYLE,
    StyledLine,
    StyledRun,
    WrappedLines,
    fold_line,
    line_width,
    prefix_lines,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

NARROW_COLUMNS = 50
"""Below this width the gutter has no blank after the sign."""

_SIGNS = {DiffRowKind.ADDED: "+", DiffRowKind.REMOVED: "-"}
_LINE_ROLES = {DiffRowKind.ADDED: StyleRole.ADDED_LINE, DiffRowKind.REMOVED: StyleRole.REMOVED_LINE}
_WORD_ROLES = {DiffRowKind.ADDED: StyleRole.ADDED_WORD, DiffRowKind.REMOVED: StyleRole.REMOVED_WORD}
_SIGN_ROLES = {DiffRowKind.ADDED: StyleRole.ADDED, DiffRowKind.REMOVED: StyleRole.REMOVED}


def render_diff_rows(rows: Sequence[DiffRow], theme: Theme, *, file_name: str = "") -> RenderableType:
    """Render rows at the width of the terminal. `file_name` gives the language of rows without a file row above."""
    layout = DiffLayout(rows, theme, file_name=file_name)
    return WrappedLines(lambda width: layout.lines(rows, width=width))


def fit_diff_rows(rows: Sequence[DiffRow], theme: Theme, *, width: int, max_rows: int) -> tuple[DiffRow, ...]:
    """Shorten a diff to `max_rows` rows of a terminal of this width, where long lines wrap.

    A single line gets at most a third of the room; what is clipped from it is counted in its row.
    """
    layout = DiffLayout(rows, theme)
    room = layout.text_columns(width)
    clipped = clip_rows(rows, max(max_rows // 3, 1) * room) if any(len(row.text) > room for row in rows) else rows
    return fit_rows(clipped, max_rows, height=lambda row: layout.height(row, width=width))


class DiffLayout:
    """Layout of one diff at any width, for views that count rows. Nothing is clipped, and the gutter stays the same."""

    def __init__(self, rows: Sequence[DiffRow], theme: Theme, *, file_name: str = "") -> None:
        self._rows = rows
        self._theme = theme
        self._file_name = file_name
        self._digits = _count_digits(rows, theme)
        self._syntax: dict[int, StyledLine] | None = None

    def text_columns(self, width: int) -> int:
        """Return the columns beside the gutter."""
        return max(width - _Gutter(self._digits, width < NARROW_COLUMNS).columns, 1)

    def height(self, row: DiffRow, *, width: int) -> int:
        """Return the rows that a row takes, which may be a gap that was made for it."""
        if (
            row.text.isascii()
            and row.text.isprintable()
            and not row.hidden
            and len(row.text) < self.text_columns(width)
        ):
            return 1
        return sum(1 for _ in self._layout_row(row, [(row.text, NO_STYLE)], width))

    def lines(self, rows: Sequence[DiffRow], *, width: int) -> Iterator[StyledLine]:
        """Lay out rows of this diff, or gaps that stand for some of them."""
        if self._syntax is None:
            coloured = highlight_diff(self._rows, self._file_name, self._theme)
            self._syntax = {id(row): line for row, line in zip(self._rows, coloured, strict=True)}
        for row in rows:
            yield from self._layout_row(row, self._syntax.get(id(row)) or [(row.text, NO_STYLE)], width)

    def texts(self, rows: Sequence[DiffRow], *, width: int) -> list[Text]:
        """Return the same lines as texts, one for each row of the terminal."""
        return [Text.assemble(*line, end="", no_wrap=True) for line in self.lines(rows, width=width)]

    def _layout_row(self, row: DiffRow, syntax: StyledLine, width: int) -> Iterator[StyledLine]:
        gutter, theme = _Gutter(self._digits, width < NARROW_COLUMNS), self._theme
        match row.kind:
            case DiffRowKind.FILE:
                return fold_line(_file_title(row, theme), max(width, 1))
            case DiffRowKind.GAP:
                return _layout_gap(row, gutter, theme, width)
            case DiffRowKind.NOTE:
                runs = [(row.text.expandtabs(TAB_WIDTH), theme.style(StyleRole.QUIET))]
                indent = [(" " * gutter.columns, NO_STYLE)]
                return prefix_lines(fold_line(runs, self.text_columns(width)), indent, indent)
            case _:
                return _layout_line(row, syntax, gutter, theme, width)


def _count_digits(rows: Iterable[DiffRow], theme: Theme) -> int:
    highest = max((row.number or 0 for row in rows), default=0)
    return len(str(highest)) if highest and theme.shows_line_numbers else 0


class _Gutter(Frozen):
    """Columns before the text: those of the numbers, 0 if there are none, and whether a blank follows the sign."""

    digits: int
    is_narrow: bool

    @property
    def columns(self) -> int:
        return self.number_columns + 2 - self.is_narrow

    @property
    def number_columns(self) -> int:
        return self.digits + 1 if self.digits else 0

    def prefix(self, number: str, sign: str, styles: tuple[Style, Style, Style]) -> StyledLine:
        """Return the gutter with the styles of the number, the sign and the blanks."""
        of_number, of_sign, of_blanks = styles
        runs = [(f"{number:>{self.digits}} " if self.digits else "", of_number), (sign, of_sign)]
        return [run for run in (*runs, ("" if self.is_narrow else " ", of_blanks)) if run[0]]


def _layout_line(row: DiffRow, syntax: StyledLine, gutter: _Gutter, theme: Theme, width: int) -> Iterator[StyledLine]:
    blank = diff_style(theme, row.kind, NO_STYLE)
    quiet = theme.style(StyleRole.QUIET)
    if theme.has_backgrounds:
        quiet = diff_style(theme, row.kind, quiet)
    sign = diff_style(theme, row.kind, theme.style(_SIGN_ROLES.get(row.kind, StyleRole.QUIET)))
    content = list(_content_runs(row, syntax, theme))
    if row.hidden:
        content.append((f" {theme.glyphs.more} {clip_label(row)}", quiet))
    first = gutter.prefix(str(row.number or ""), _SIGNS.get(row.kind, " "), (quiet, sign, blank))
    others = gutter.prefix("", theme.glyphs.more, (quiet, quiet, blank))
    for line in prefix_lines(fold_line(content, max(width - gutter.columns, 1)), first, others):
        if row.is_change and theme.has_backgrounds:
            line.append((" " * (width - line_width(line)), blank))
        yield line


def _layout_gap(row: DiffRow, gutter: _Gutter, theme: Theme, width: int) -> Iterator[StyledLine]:
    style = theme.style(StyleRole.WARNING if row.added or row.removed else StyleRole.QUIET)
    label = f" {theme.glyphs.separator} ".join(filter(None, (gap_label(row), row.text.strip())))
    yield next(fold_line([(f"{theme.glyphs.more:>{gutter.digits or 1}} {label}", style)], width))


def _file_title(row: DiffRow, theme: Theme) -> StyledLine:
    title: StyledLine = [(row.text.expandtabs(TAB_WIDTH), theme.style(StyleRole.STRONG))]
    for sign, count, role in (("+", row.added, StyleRole.ADDED), ("-", row.removed, StyleRole.REMOVED)):
        if row.added or row.removed:
            title.append((f" {sign}{count}", theme.style(role)))
    return title


def _content_runs(row: DiffRow, syntax: StyledLine, theme: Theme) -> Iterator[StyledRun]:
    """Yield the text with marked words. In changed lines tabs and trailing blanks are made visible."""
    end = len(row.text.rstrip(" \t")) if row.is_change else len(row.text)
    column = 0
    for text, style, is_marked in split_at_marks(syntax, snap_to_graphemes(row.text, row.marks), end):
        own = diff_style(theme, row.kind, style, is_marked=is_marked)
        for part in re.split("(\t)", text):
            shown, of_part = part, own
            if part == "\t":
                shown = _show_tab(column, theme) if row.is_change else " " * (TAB_WIDTH - column % TAB_WIDTH)
                of_part = diff_style(theme, row.kind, theme.style(StyleRole.QUIET), is_marked=is_marked)
            if shown:
                yield shown, of_part
                column += text_width(shown)
    trailing = diff_style(theme, row.kind, NO_STYLE, is_marked=True)
    if not theme.has_backgrounds:
        trailing += theme.style(StyleRole.SELECTED)
    for blank in row.text[end:]:
        shown = _show_tab(column, theme) if blank == "\t" else theme.glyphs.blank
        yield shown, trailing
        column += len(shown)


def _show_tab(column: int, theme: Theme) -> str:
    return theme.glyphs.arrow + " " * (TAB_WIDTH - 1 - column % TAB_WIDTH)


def snap_to_graphemes(text: str, marks: Spans) -> Spans:
    """Widen marks so that none begins or ends within a grapheme."""
    if not marks or text.isascii():
        return marks
    borders = [0]
    for grapheme in iter_graphemes(text):
        borders.append(borders[-1] + len(grapheme))
    return tuple(
        (max(at for at in borders if at <= start), min(at for at in borders if at >= end)) for start, end in marks
    )


@lru_cache(512)
def diff_style(theme: Theme, kind: DiffRowKind, syntax: Style, *, is_marked: bool = False) -> Style:
    """Return the style of a text in a line: its own colour, as far as it is readable on the background of the line."""
    role = (_WORD_ROLES if is_marked else _LINE_ROLES).get(kind)
    if role is None:
        return syntax
    style = theme.style(role)
    if not theme.has_backgrounds or style.bgcolor is None:
        return style
    foreground = syntax.color or style.color
    if foreground is None:
        return style
    colour = readable_on(style.bgcolor, foreground, color_system(theme.colour_depth))
    return Style(color=colour, bgcolor=style.bgcolor, italic=syntax.italic, bold=syntax.bold)
