"""The completion menu below the editor."""

from collections.abc import Sequence

from wcwidth import iter_graphemes_reverse

from tejat.core.i18n import _, ngettext
from tejat.core.ui.commands import CompletionItem
from tejat.ui.terminal.render.cell_style import cell_style
from tejat.ui.terminal.render.cells import CellRow, row_width, split_cells, text_width
from tejat.ui.terminal.render.scroll import first_visible
from tejat.ui.terminal.render.text_rows import single_line, truncate
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_ROWS = 8
_MARGIN = 2
_GAP = 2
_MIN_DETAIL_COLUMNS = 10


class CompletionMenu:
    """Entries, selection and scroll position."""

    def __init__(self) -> None:
        self._entries: Sequence[CompletionItem] = ()
        self._selected: int | None = None
        self._top = 0
        self._is_chosen = False

    @property
    def is_open(self) -> bool:
        return bool(self._entries)

    @property
    def selected(self) -> CompletionItem | None:
        return None if self._selected is None else self._entries[self._selected]

    def show(self, entries: Sequence[CompletionItem], *, typed: str) -> None:
        """Show entries. Keeps the user's selection, else selects an exact match or the best entry.

        `typed` is the text before the caret. Nothing is selected while nothing was typed to choose by.
        """
        before = self.selected if self._is_chosen else None
        self._entries, self._top = entries, 0
        self._is_chosen = before in entries
        self._selected = entries.index(before) if self._is_chosen else self._default_selection(typed)

    def close(self) -> None:
        self._entries, self._selected, self._top, self._is_chosen = (), None, 0, False

    def move(self, step: int) -> None:
        """Move the selection, wrapping around."""
        count = len(self._entries)
        self._is_chosen = True
        if self._selected is None:
            self._selected = 0 if step > 0 else count - 1
        else:
            self._selected = (self._selected + step) % count

    def rows(self, theme: Theme, *, width: int, height: int) -> list[CellRow]:
        """Return at most eight rows, with an ellipsis where there are more entries, and a row with their number."""
        row_count = min(_MAX_ROWS, height, len(self._entries))
        has_count = row_count < len(self._entries) and height > 2
        row_count -= has_count and height == row_count
        if row_count < 1 or width < 2 * _MARGIN:
            return []
        selected = self._top if self._selected is None else self._selected
        self._top = first_visible(self._top, selected=selected, visible=row_count, total=len(self._entries))
        shown = self._entries[self._top : self._top + row_count]
        labels = [single_line(entry.label or entry.text.strip()) for entry in shown]
        label_width = min(max(map(text_width, labels)), width - _MARGIN)
        rows = [
            self._row(at, label, single_line(entry.detail), theme, width=width, label_width=label_width, is_edge=edge)
            for at, (label, entry) in enumerate(zip(labels, shown, strict=True), self._top)
            for edge in [
                (at == self._top > 0)
                or (at == self._top + row_count - 1 and self._top + row_count < len(self._entries))
            ]
        ]
        return [*rows, self._count_row(theme, width)] if has_count else rows

    def _count_row(self, theme: Theme, width: int) -> CellRow:
        total = len(self._entries)
        text = ngettext("{count} entry", "{count} entries", total)
        if all(entry.text.startswith("/") for entry in self._entries):
            text = ngettext("{count} command", "{count} commands", total)
        if self._selected is not None:
            text = _("{place} of {total}", place=self._selected + 1, total=total)
        return split_cells(truncate(f"  {text}", width, theme), cell_style(theme, StyleRole.QUIET))

    def _row(
        self, at: int, label: str, detail: str, theme: Theme, *, width: int, label_width: int, is_edge: bool
    ) -> CellRow:
        is_selected = at == self._selected
        sign = theme.glyphs.cursor if is_selected else theme.glyphs.more if is_edge else " "
        part = StyleRole.SELECTED if is_selected else StyleRole.TEXT
        room = width - _MARGIN
        fitting = _truncate_start if "/" in label[1:] else truncate
        row = split_cells(f"{sign} {fitting(label, room, theme)}", cell_style(theme, part))
        left = room - label_width - _GAP
        if detail and left >= _MIN_DETAIL_COLUMNS:
            pad = " " * (_MARGIN + label_width + _GAP - row_width(row))
            part = StyleRole.SELECTED if is_selected else StyleRole.QUIET
            row += split_cells(pad + truncate(detail, left, theme), cell_style(theme, part))
        return row

    def _default_selection(self, typed: str) -> int | None:
        first = next(iter(self._entries), None)
        if first is None:
            return None
        for at, entry in enumerate(self._entries):
            if entry.text.rstrip() == _typed_part(entry, typed):
                return at
        return 0 if _typed_part(first, typed).strip('/@"') else None


def _typed_part(entry: CompletionItem, typed: str) -> str:
    return typed[len(typed) - entry.replace_length :]


def _truncate_start(path: str, width: int, theme: Theme) -> str:
    """Truncate a path at its start, because its end says more."""
    if text_width(path) <= width:
        return path
    kept, room = "", width - 1
    for grapheme in iter_graphemes_reverse(path):
        if text_width(grapheme) > room:
            break
        kept = grapheme + kept
        room -= text_width(grapheme)
    return theme.glyphs.more + kept
