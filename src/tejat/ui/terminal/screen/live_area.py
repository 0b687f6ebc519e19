"""Content of the live area: live block, queued lines, editor or dialog, hint and status line."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindingsBase
from rich.console import RenderableType
from rich.text import Text

from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.log import report_unexpected
from tejat.ui.terminal.dialogs.base import Dialog
from tejat.ui.terminal.render.cells import CellRow, Frame, truncate_row
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.text_rows import wrap_words
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.screen.layout import Footer, compose_frame, max_body_height

_MAX_HINT_ROWS = 2
_MAX_QUEUED_ROWS = 5
_MAX_QUEUED_CHARS = 500
"""Characters of a queued line that are considered for its row."""
_UNWRAPPED_COLUMNS = 10_000
"""Width at which a line is rendered before it is truncated to one row."""


class EditorComponent(Protocol):
    """Interface of the editor."""

    @property
    def buffer(self) -> Buffer: ...

    @property
    def bindings(self) -> KeyBindingsBase: ...

    def view(self, *, width: int, height: int) -> Frame:
        """Return its rows, at most `height`, and the caret."""
        ...


@runtime_checkable
class HasCaret(Protocol):
    """A dialog with text input: input methods draw at the real cursor."""

    def caret(self, *, width: int, height: int) -> tuple[int, int] | None:
        """Return column and row of the caret in a view of this size, None if there is none."""
        ...


class LiveArea:
    """Renders the live area without a terminal. The live block is rendered again only when `is_stale`."""

    def __init__(
        self,
        editor: EditorComponent,
        theme: Theme,
        *,
        status: Callable[[int], RenderableType],
        queued: Callable[[], Sequence[str]],
    ) -> None:
        self.theme = theme
        self.live: RenderableType | None = None
        self.is_stale = False
        self.hint: str | None = None
        self.dialog: Dialog[object] | None = None
        self._editor = editor
        self._status = status
        self._queued = queued
        self._live_rows: list[CellRow] = []
        self._live_for: tuple[int, Theme] = (0, theme)
        self._errors: dict[type[Exception], str] = {}

    def render(self, width: int, height: int, *, refreshes_live: bool) -> Frame:
        if (refreshes_live and self.is_stale) or self._live_for != (width, self.theme):
            live = self.live
            self._live_rows = [] if live is None else self._rows(lambda: live, width)
            self._live_for, self.is_stale = (width, self.theme), False
        queued = self._queued_rows(width)
        footer = Footer.fit(height, hints=self._hint_rows(width), status=self._status_row(width))
        max_body_rows = max_body_height(height, footer, len(self._live_rows) + len(queued))
        composed = compose_frame(
            height,
            live=self._live_rows,
            queued=queued,
            body=self._body(width, max_body_rows),
            footer=footer,
            hidden_rows_label=lambda count: self._text_row(
                ngettext("{count} row above", "{count} rows above", count), StyleRole.QUIET, width
            ),
        )
        return _to_ascii(composed) if self.theme.is_ascii else composed

    def _body(self, width: int, height: int) -> Frame:
        dialog = self.dialog
        if dialog is None:
            return self._editor.view(width=width, height=height)
        rows = self._rows(lambda: dialog.view(width=width, height=height), width)
        return Frame(tuple(rows), dialog.caret(width=width, height=height) if isinstance(dialog, HasCaret) else None)

    def _queued_rows(self, width: int) -> list[CellRow]:
        waiting = self._queued()
        rows = [self._queued_row(line, width) for line in waiting[:_MAX_QUEUED_ROWS]]
        if len(waiting) > _MAX_QUEUED_ROWS:
            more = ngettext("{count} more queued", "{count} more queued", len(waiting) - _MAX_QUEUED_ROWS)
            rows.append(self._text_row(more, StyleRole.QUEUED, width))
        return rows

    def _queued_row(self, line: str, width: int) -> CellRow:
        words = " ".join(line[:_MAX_QUEUED_CHARS].split())
        return self._text_row(_("queued") + f" {self.theme.glyphs.separator} {words}", StyleRole.QUEUED, width)

    def _hint_rows(self, width: int) -> list[CellRow]:
        if self.hint is None:
            return []
        *first, last = wrap_words(self.hint, width=width)
        rows = [*first, last] if len(first) < _MAX_HINT_ROWS else [first[0], " ".join((*first[1:], last))]
        return [self._text_row(row, StyleRole.WARNING, width) for row in rows]

    def _status_row(self, width: int) -> CellRow:
        rows = self._rows(lambda: self._status(width), width)
        return rows[0] if rows else []

    def _rows(self, view: Callable[[], RenderableType], width: int) -> list[CellRow]:
        try:
            return render_rows(view(), self.theme, width=width)
        except Exception as error:  # noqa: BLE001 -- one broken part must not take the screen with it
            if type(error) not in self._errors:  # it fails again whenever it is drawn
                self._errors[type(error)] = report_unexpected(error, "the live area")
            return render_rows(render_error(self._errors[type(error)], self.theme), self.theme, width=width)

    def _text_row(self, text: str, role: StyleRole, width: int) -> CellRow:
        rows = render_rows(Text(text, self.theme.style(role), end=""), self.theme, width=_UNWRAPPED_COLUMNS)
        return truncate_row(rows[0], width, self.theme.glyphs.more) if rows else []


def render_error(message: str, theme: Theme) -> Text:
    """Return the placeholder for a block that failed to render, with the message of `report_unexpected`."""
    return Text(message, theme.style(StyleRole.BAD))


def _to_ascii(frame: Frame) -> Frame:
    """Replace characters that an ASCII terminal does not have, keeping the width."""
    rows = (
        [each if each.text.isascii() else replace(each, text="?" * each.width) for each in row] for row in frame.rows
    )
    return Frame(tuple(rows), frame.caret)
