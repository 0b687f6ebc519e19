"""The list below the editor of what the text could go on as."""

from collections.abc import Sequence

from wcwidth import iter_graphemes_reverse

from tejat.core.commands import Suggestion
from tejat.frontends.terminal.cells import Row, cells_of, columns, width_of
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.part_style import part_style
from tejat.frontends.terminal.rows import cut, one_line

_MOST_ROWS = 8
_MARGIN = 2
_GAP = 2
_SMALLEST_DETAIL = 10


class CompletionMenu:
    """The entries, which of them is marked, and which are in view."""

    def __init__(self) -> None:
        self._entries: Sequence[Suggestion] = ()
        self._marked: int | None = None
        self._top = 0
        self._is_chosen = False

    @property
    def is_open(self) -> bool:
        return bool(self._entries)

    @property
    def marked(self) -> Suggestion | None:
        return None if self._marked is None else self._entries[self._marked]

    def show(self, entries: Sequence[Suggestion], *, typed: str) -> None:
        """Take these entries. What the person marked stays marked; else it is the one that was typed, or the best.

        `typed` is the text before the caret. Nothing is marked as long as nothing was typed to choose by.
        """
        before = self.marked if self._is_chosen else None
        self._entries, self._top = entries, 0
        self._is_chosen = before is not None and before in entries
        self._marked = entries.index(before) if before is not None and before in entries else self._first_marked(typed)

    def close(self) -> None:
        self._entries, self._marked, self._top, self._is_chosen = (), None, 0, False

    def move(self, step: int) -> None:
        """Mark another entry; after the last comes the first."""
        count = len(self._entries)
        self._is_chosen = True
        if self._marked is None:
            self._marked = 0 if step > 0 else count - 1
        else:
            self._marked = (self._marked + step) % count

    def rows(self, look: Look, *, width: int, height: int) -> list[Row]:
        """At most eight, each with a sign where there is more above or below."""
        most = min(_MOST_ROWS, height, len(self._entries))
        if most < 1 or width < 2 * _MARGIN:
            return []
        if self._marked is not None:
            self._top = min(max(self._top, self._marked - most + 1), self._marked)
        self._top = min(self._top, len(self._entries) - most)
        shown = self._entries[self._top : self._top + most]
        labels = [one_line(entry.label or entry.text.strip()) for entry in shown]
        beside = min(max(map(width_of, labels)), width - _MARGIN)
        return [
            self._row(at, label, one_line(entry.detail), look, width=width, beside=beside, is_edge=edge)
            for at, (label, entry) in enumerate(zip(labels, shown, strict=True), self._top)
            for edge in [
                (at == self._top > 0) or (at == self._top + most - 1 and self._top + most < len(self._entries))
            ]
        ]

    def _row(self, at: int, label: str, detail: str, look: Look, *, width: int, beside: int, is_edge: bool) -> Row:
        is_marked = at == self._marked
        sign = look.glyphs.mark if is_marked else look.glyphs.more if is_edge else " "
        part = Part.SELECTED if is_marked else Part.TEXT
        room = width - _MARGIN
        fitting = _cut_in_front if "/" in label[1:] else cut
        row = cells_of(f"{sign} {fitting(label, room, look)}", part_style(look, part))
        left = room - beside - _GAP
        if detail and left >= _SMALLEST_DETAIL:
            pad = " " * (_MARGIN + beside + _GAP - columns(row))
            row += cells_of(pad + cut(detail, left, look), part_style(look, Part.SELECTED if is_marked else Part.QUIET))
        return row

    def _first_marked(self, typed: str) -> int | None:
        first = next(iter(self._entries), None)
        if first is None:
            return None
        for at, entry in enumerate(self._entries):
            if entry.text.rstrip() == _chosen_by(entry, typed):
                return at
        return 0 if _chosen_by(first, typed).strip('/@"') else None


def _chosen_by(entry: Suggestion, typed: str) -> str:
    return typed[len(typed) - entry.replaces :]


def _cut_in_front(path: str, width: int, look: Look) -> str:
    """Of a path the end says more than the beginning."""
    if width_of(path) <= width:
        return path
    kept, room = "", width - 1
    for grapheme in iter_graphemes_reverse(path):
        if width_of(grapheme) > room:
            break
        kept = grapheme + kept
        room -= width_of(grapheme)
    return look.glyphs.more + kept
