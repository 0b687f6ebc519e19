"""What is drawn at the moment: the live block, queued lines, the editor or a dialog, a hint and the status line."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindingsBase
from rich.console import RenderableType
from rich.text import Text

from tejat.core.words import say, say_count
from tejat.frontends.terminal.cells import Cell, Picture, Row, cut
from tejat.frontends.terminal.composition import Foot, body_height, compose
from tejat.frontends.terminal.dialog import Dialog
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.paint import rows_of

_MOST_QUEUED = 5
_LONGEST_QUEUED = 500
"""Characters of a queued line that can matter for one row."""
_UNBROKEN = 10_000
"""Columns in which a line of ours is laid out before it is cut to one row."""


class Editing(Protocol):
    """What is asked of an editor."""

    @property
    def buffer(self) -> Buffer: ...

    @property
    def bindings(self) -> KeyBindingsBase: ...

    def view(self, *, width: int, height: int) -> Picture:
        """Its rows, at most so many, and where the caret stands."""
        ...


@runtime_checkable
class HasCaret(Protocol):
    """A dialog in which something is typed: input methods draw where the real cursor stands."""

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Its column and row in the view of this size, None where there is none."""
        ...


class Scene:
    """Has no terminal of its own. The live block is rendered anew only when `is_stale` and that is wanted."""

    def __init__(
        self,
        editor: Editing,
        look: Look,
        *,
        status: Callable[[int], RenderableType],
        queued: Callable[[], Sequence[str]],
    ) -> None:
        self.look = look
        self.live: RenderableType | None = None
        self.is_stale = False
        self.hint: str | None = None
        self.dialog: Dialog[object] | None = None
        self._editor = editor
        self._status = status
        self._queued = queued
        self._live_rows: list[Row] = []
        self._live_for: tuple[int, Look] = (0, look)

    def picture(self, width: int, height: int, *, renews: bool) -> Picture:
        if (renews and self.is_stale) or self._live_for != (width, self.look):
            live = self.live
            self._live_rows = [] if live is None else self._rows(lambda: live, width)
            self._live_for, self.is_stale = (width, self.look), False
        queued = self._queued_rows(width)
        foot = Foot.fitting(height, hint=self._hint_row(width), status=self._status_row(width))
        most = body_height(height, foot, len(self._live_rows) + len(queued))
        drawn = compose(
            height,
            live=self._live_rows,
            queued=queued,
            body=self._body(width, most),
            foot=foot,
            say_above=lambda count: self._said(
                say_count("{count} row above", "{count} rows above", count), Part.QUIET, width
            ),
        )
        return _in_ascii(drawn) if self.look.is_ascii else drawn

    def _body(self, width: int, height: int) -> Picture:
        dialog = self.dialog
        if dialog is None:
            return self._editor.view(width=width, height=height)
        rows = self._rows(lambda: dialog.view(width=width, height=height), width)
        return Picture(tuple(rows), dialog.caret(width=width, height=height) if isinstance(dialog, HasCaret) else None)

    def _queued_rows(self, width: int) -> list[Row]:
        waiting = self._queued()
        rows = [self._queued_row(line, width) for line in waiting[:_MOST_QUEUED]]
        if len(waiting) > _MOST_QUEUED:
            more = say_count("{count} more queued", "{count} more queued", len(waiting) - _MOST_QUEUED)
            rows.append(self._said(more, Part.QUEUED, width))
        return rows

    def _queued_row(self, line: str, width: int) -> Row:
        words = " ".join(line[:_LONGEST_QUEUED].split())
        return self._said(f"{say('queued')} {self.look.glyphs.separator} {words}", Part.QUEUED, width)

    def _hint_row(self, width: int) -> Row | None:
        return None if self.hint is None else self._said(self.hint, Part.WARNING, width)

    def _status_row(self, width: int) -> Row:
        rows = self._rows(lambda: self._status(width), width)
        return rows[0] if rows else []

    def _rows(self, view: Callable[[], RenderableType], width: int) -> list[Row]:
        try:
            return rows_of(view(), self.look, width=width)
        except Exception as error:  # noqa: BLE001 -- one broken part must not take the screen with it
            return rows_of(instead_of(error, self.look), self.look, width=width)

    def _said(self, text: str, part: Part, width: int) -> Row:
        rows = rows_of(Text(text, self.look.style(part), end=""), self.look, width=_UNBROKEN)
        return cut(rows[0], width, self.look.glyphs.more) if rows else []


def instead_of(error: Exception, look: Look) -> Text:
    """What is shown where something could not be rendered."""
    return Text(say("This could not be shown: {kind}.", kind=type(error).__name__), look.style(Part.BAD))


def _in_ascii(picture: Picture) -> Picture:
    """What people type or models write may hold more than the terminal has; it is drawn as wide as it is."""
    return Picture(
        tuple([cell if cell.text.isascii() else _unknown(cell) for cell in row] for row in picture.rows),
        picture.caret,
    )


def _unknown(cell: Cell) -> Cell:
    return Cell("?" * cell.width, cell.width, cell.style)
