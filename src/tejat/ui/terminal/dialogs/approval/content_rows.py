"""Long content of a dialog: text and a diff, of which only the visible rows are rendered."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.text import Text

from tejat.core.frozen import Frozen
from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import DiffRow, trim_context
from tejat.ui.terminal.render.diff import DiffLayout
from tejat.ui.terminal.render.markdown.stream import render_markdown
from tejat.ui.terminal.render.rich_output import render_texts
from tejat.ui.terminal.render.text_rows import (
    display_width,
    expand_tabs,
    fold_row,
    styled_row,
    styled_rows,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme


class TextLine(Frozen):
    """One sanitized line of any length."""

    text: str
    role: StyleRole = StyleRole.TEXT
    prefix: str = ""
    at_blanks: bool = False
    """Whether it is wrapped after blanks, all of which are kept."""
    is_prose: bool = False
    """Whether it is wrapped between words, without blanks at the ends of rows."""

    def rows(self, width: int, theme: Theme) -> list[str]:
        first, rest = self.prefix, theme.continuation
        if self.is_prose:
            return wrap_words(self.text, width=width, first=first, rest=rest)
        return wrap_text(expand_tabs(self.text), width=width, first=first, rest=rest, at_blanks=self.at_blanks)


class MarkdownContent(Frozen):
    """A sanitized Markdown text, rendered behind a bar that marks it as quoted."""

    text: str

    def rows(self, width: int, theme: Theme) -> list[Text]:
        bar = f"{theme.glyphs.bar} "
        room = max(width - display_width(bar), 1)
        lines = render_texts(render_markdown(self.text, theme), theme, width=room)
        while lines and not lines[0].plain.strip():
            del lines[0]
        quoted: list[Text] = []
        for line in lines:
            for part in fold_row(line, room):
                row = styled_row(theme, (bar, StyleRole.QUOTE))
                row.append_text(part)
                quoted.append(row)
        return quoted


ContentLine = TextLine | DiffRow | MarkdownContent


class VisibleRows(Frozen):
    """Rendered rows, and the changed lines whose end is among them, by their order in the diff."""

    rows: tuple[Text, ...]
    changes: frozenset[int] = frozenset()


class ContentRows:
    """Lines wrapped at any width. `file_name` chooses the syntax colours of a diff."""

    def __init__(self, lines: Sequence[ContentLine], theme: Theme, *, file_name: str = "") -> None:
        self._lines = lines
        self._theme = theme
        self._diff = [line for line in lines if isinstance(line, DiffRow)]
        self._layout = DiffLayout(self._diff, theme, file_name=file_name)
        changed = [at for at, line in enumerate(lines) if isinstance(line, DiffRow) and line.is_change]
        self._order = {at: order for order, at in enumerate(changed)}
        self._rendered: dict[int, list[Text]] = {}
        self._width = 0
        self._ends: list[int] = []
        self._fitted: dict[int, VisibleRows] = {}
        self._trimmed: dict[int, int] = {}

    @property
    def is_diff(self) -> bool:
        """Whether there is nothing but a diff."""
        return bool(self._diff) and len(self._diff) == len(self._lines)

    @property
    def change_count(self) -> int:
        return len(self._order)

    def count(self, width: int, *, lines: int | None = None) -> int:
        """Return the number of rows at a width, of all lines or of the first ones."""
        ends = self._measure(width)
        last = len(ends) if lines is None else lines
        return ends[last - 1] if last else 0

    def count_trimmed(self, width: int, *, context: int) -> int:
        """Return the number of rows of a diff with at most this many unchanged lines around each change."""
        self._measure(width)
        if context not in self._trimmed:
            self._trimmed[context] = sum(self._height(row, width) for row in trim_context(self._diff, context))
        return self._trimmed[context]

    def row_of_change(self, number: int, *, width: int) -> int:
        """Return the row in which a changed line begins, by its order in the diff; 0 if there is none."""
        line = next((at for at, order in self._order.items() if order == number), 0)
        return self.count(width, lines=line)

    def window(self, width: int, first: int, count: int) -> VisibleRows:
        """Render `count` rows, beginning with row `first`."""
        ends = self._measure(width)
        start, stop = bisect_right(ends, first), bisect_right(ends, first + count - 1) + 1
        above = first - (ends[start - 1] if start else 0)
        rows = self._render(self._lines[start:stop], width)[above : above + count]
        shown = (at for at in range(start, min(stop, len(ends))) if ends[at] <= first + count)
        return VisibleRows(tuple(rows), frozenset(self._order[at] for at in shown if at in self._order))

    def fit(self, width: int, max_rows: int) -> VisibleRows:
        """Render the beginning and the end of a diff, with less context and a gap where it is too long."""
        self._measure(width)
        if max_rows not in self._fitted:
            kept = fit_rows(self._diff, max_rows, height=lambda row: self._height(row, width))
            order = {id(self._lines[at]): order for at, order in self._order.items()}
            shown = frozenset(order[id(row)] for row in kept if id(row) in order)
            self._fitted[max_rows] = VisibleRows(tuple(self._render(kept, width)[:max_rows]), shown)
        return self._fitted[max_rows]

    def _measure(self, width: int) -> list[int]:
        """Return the row after each line. Results for another width are dropped: dialogs are drawn for every key."""
        if width != self._width:
            self._rendered = {}
            self._ends = list(accumulate(self._height(line, width) for line in self._lines))
            self._width, self._fitted, self._trimmed = width, {}, {}
        return self._ends

    def _height(self, line: ContentLine, width: int) -> int:
        if isinstance(line, DiffRow):
            return self._layout.height(line, width=width)
        if isinstance(line, MarkdownContent):
            return len(self._markdown_rows(line, width))
        return len(line.rows(width, self._theme))

    def _markdown_rows(self, line: MarkdownContent, width: int) -> list[Text]:
        """Render Markdown once per width: that takes longer than a key press should."""
        if id(line) not in self._rendered:
            self._rendered[id(line)] = line.rows(width, self._theme)
        return self._rendered[id(line)]

    def _render(self, lines: Sequence[ContentLine], width: int) -> list[Text]:
        rows: list[Text] = []
        for line in lines:
            if isinstance(line, DiffRow):
                rows += self._layout.texts([line], width=width)
            elif isinstance(line, MarkdownContent):
                rows += self._markdown_rows(line, width)
            else:
                rows += styled_rows(self._theme, line.rows(width, self._theme), line.role)
        return rows
