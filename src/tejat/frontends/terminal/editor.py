"""Where a person types: the text, what keys do to it, and what it could go on as."""

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum, auto

from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.vi_state import InputMode

from tejat.core.commands import Suggestion
from tejat.core.errors import WorkspaceError
from tejat.frontends.terminal.cells import Picture
from tejat.frontends.terminal.completion_menu import CompletionMenu
from tejat.frontends.terminal.editor_buffer import EditorBuffer
from tejat.frontends.terminal.editor_keys import editor_bindings
from tejat.frontends.terminal.editor_view import Content, broken, caret_of, place_near, view
from tejat.frontends.terminal.look import Look
from tejat.frontends.terminal.pastes import Pastes
from tejat.frontends.terminal.prompt_history import PromptHistory
from tejat.frontends.terminal.suggesting import Place, Suggest, place_of

_BETWEEN = "\n\n"


class _Shell(Enum):
    """Whether a line is for the shell: not, this one, or all until the person leaves."""

    OFF = auto()
    ONCE = auto()
    ON = auto()


def _nothing(*_: object) -> None:
    return None


class Editor:
    """Put `bindings` where the keys of `buffer` are looked up, and draw `view`. The callbacks may be set at any time.

    A line for the shell is given to `on_submit` without its `!`, while `is_shell` is true; in the history, from
    `on_take_back` and for `put` it has one. A prompt that begins with `!` or, as a paste, with `/` gets a blank before
    it, so that nobody takes it for a command.
    """

    def __init__(
        self, look: Look, *, history: PromptHistory | None = None, suggest: Suggest | None = None, placeholder: str = ""
    ) -> None:
        self.look = look
        self.placeholder = placeholder
        self.suggest = suggest
        self.history = history or PromptHistory()
        self.buffer: Buffer = EditorBuffer(self._step_history)
        self.bindings: KeyBindings = editor_bindings(self)
        self.on_submit: Callable[[str], None] = _nothing
        """A line was entered. It has left the editor."""
        self.on_steer: Callable[[str], None] = _nothing
        """The same, for the run that goes on."""
        self.on_change: Callable[[], None] = _nothing
        """There is something new to draw."""
        self.on_take_back: Callable[[], str | None] = _nothing
        """Gives back the newest line that waits, if any does."""
        self.on_search_history: Callable[[], None] = _nothing
        self.on_external_editor: Callable[[], None] = _nothing
        self.on_clear_screen: Callable[[], None] = _nothing
        self.on_expand: Callable[[], None] = _nothing
        self.on_next_mode: Callable[[], None] = _nothing
        self._pastes = Pastes()
        self._menu = CompletionMenu()
        self._shell = _Shell.OFF
        self._top = 0
        self._width = 80
        self._column: int | None = None
        self._recalled: int | None = None
        self._draft = ""
        self._is_quiet = False
        self._left_place: Place | None = None
        self._takes_next = False
        self._asking: asyncio.Task[None] | None = None
        self._answered: tuple[str, int] | None = None
        self.buffer.on_text_changed += self._text_changed
        self.buffer.on_cursor_position_changed += self._caret_moved

    @property
    def text(self) -> str:
        """What was typed, with all that was pasted."""
        return self._pastes.whole(self.buffer.text)

    @property
    def is_shell(self) -> bool:
        """Whether Enter runs the text as a shell command."""
        return self._shell is not _Shell.OFF

    @property
    def is_empty(self) -> bool:
        return not self.buffer.text

    @property
    def wants_escape(self) -> bool:
        """Whether Escape has a meaning here: a menu to close, shell mode to leave, vi's way out of typing."""
        app = get_app_or_none()
        is_vi = app is not None and app.editing_mode is EditingMode.VI
        is_typing = is_vi and app is not None and app.vi_state.input_mode is not InputMode.NAVIGATION
        return self.can_escape or is_typing or self.buffer.selection_state is not None

    @property
    def can_escape(self) -> bool:
        """Whether `escape` does something."""
        return self._menu.is_open or (self.is_shell and self.is_empty)

    @property
    def has_menu(self) -> bool:
        return self._menu.is_open

    def view(self, *, width: int, height: int) -> Picture:
        """The text with its caret and, below it, what it could go on as, in at most so many rows."""
        self._width = width
        menu = self._menu.rows(self.look, width=width, height=max(height - 1, 0))
        drawn = view(self._content(), look=self.look, width=width, height=max(height - len(menu), 1), top=self._top)
        self._top = drawn.top
        return Picture((*drawn.picture.rows, *menu), drawn.picture.caret)

    def put(self, text: str) -> None:
        """Into the editor, before what stands there. One that begins with `!` is for the shell if nothing does."""
        if self.is_empty and not self.is_shell and text.startswith("!"):
            self._shell, text = _Shell.ONCE, text[1:]
        stands, caret = self.buffer.text, self.buffer.cursor_position
        put = self._pastes.taken_back(text)
        if stands:
            put += _BETWEEN
        self._replace(put + stands, len(put) + caret)

    def clear(self) -> None:
        """Drop the text. Shell mode stays."""
        self._recalled = None
        self._is_quiet = True
        try:
            self.buffer.reset()
            self._pastes.forget(except_in="")
        finally:
            self._is_quiet = False
        self._top = 0
        self.close_menu()

    def close(self) -> None:
        """Stop looking for what the text could go on as."""
        self.close_menu()

    # What keys do

    def type(self, text: str) -> None:
        """Put in what was typed. A `!` at the beginning of nothing turns shell mode on, or off again."""
        if text == "!" and self.is_empty:
            self._shell = _Shell.OFF if self.is_shell else _Shell.ON
            self._changed()
            return
        self.buffer.insert_text(self._pastes.typed(text))

    def paste(self, text: str) -> None:
        """Put in what was pasted. It is never entered; one line that begins with `!` is for the shell."""
        pasted = self._pastes.taken(text)
        if self.is_empty and not self.is_shell and pasted.startswith("!") and "\n" not in pasted.strip():
            self._shell, pasted = _Shell.ONCE, pasted[1:]
        self._is_quiet = True
        try:
            self.buffer.insert_text(pasted)
        finally:
            self._is_quiet = False
        self.close_menu()

    def new_line(self) -> None:
        self.buffer.insert_text("\n")

    def enter(self) -> None:
        """Take what is marked in the menu, go on in a new line after a backslash, or submit."""
        marked = self._menu.marked if self._is_menu_current() else None
        if marked is not None and self._would_change(marked):
            self._take(marked)
        elif self.buffer.document.text_before_cursor.endswith("\\"):
            # To a shell the backslash means that the line goes on, and without it there would be two.
            if not self.is_shell:
                self.buffer.delete_before_cursor()
            self.new_line()
        else:
            self._hand_over(self.on_submit)

    def steer(self) -> None:
        if not self.is_shell:
            self._hand_over(self.on_steer)

    def up(self) -> None:
        """A row up, or an entry back in the menu or the history. An empty editor first takes back what waits."""
        if self._menu.is_open:
            self._menu.move(-1)
            self._changed()
        elif not self._move_row(-1):
            waiting = self.on_take_back() if self.is_empty else None
            if waiting is None:
                self._step_history(-1)
            else:
                self.put(waiting)

    def down(self) -> None:
        if self._menu.is_open:
            self._menu.move(1)
            self._changed()
        elif not self._move_row(1):
            self._step_history(1)

    def complete(self) -> None:
        """Take what is marked in the menu, or the best; without a menu look for something."""
        self._left_place = None
        if self._is_menu_current():
            if self._menu.marked is None:
                self._menu.move(1)
            if self._menu.marked is not None:
                self._take(self._menu.marked)
        elif not self.is_shell and place_of(self.buffer.text, self.buffer.cursor_position) is not None:
            self._takes_next = True
            self._ask()

    def escape(self) -> None:
        if self._menu.is_open:
            self._left_place = place_of(self.buffer.text, self.buffer.cursor_position)
            self.close_menu()
        elif self.is_empty:
            self._shell = _Shell.OFF
            self._changed()

    def backspace(self) -> None:
        if self.is_shell and self.buffer.cursor_position == 0:
            self._shell = _Shell.OFF
            self._changed()
        else:
            self.buffer.delete_before_cursor()

    def close_menu(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._takes_next = False
        self._menu.close()
        self._changed()

    def _hand_over(self, take: Callable[[str], None]) -> None:
        shown, text = self.buffer.text, self.text
        if not text.strip():
            return
        if not self.is_shell and (text.startswith("!") or (text.startswith("/") and not shown.startswith("/"))):
            text = f" {text}"
        self.history.add(f"!{text}" if self.is_shell else text)
        self.clear()
        take(text)
        if self._shell is _Shell.ONCE and self.is_empty:
            self._shell = _Shell.OFF
        self._changed()

    def _content(self) -> Content:
        document = self.buffer.document
        selected = list(document.selection_ranges()) if document.selection else ()
        return Content(
            document.text,
            document.cursor_position,
            selected=selected,
            label=self._pastes.label,
            is_shell=self.is_shell,
            placeholder="" if self.is_shell else self.placeholder,
        )

    def _move_row(self, step: int) -> bool:
        """Go to the row above or below, as near to the column as it goes. False where there is none."""
        rows = broken(self._content(), look=self.look, width=self._width)
        row, column = caret_of(rows, self.buffer.cursor_position)
        if not 0 <= row + step < len(rows):
            return False
        column = column if self._column is None else self._column
        self.buffer.cursor_position = place_near(rows[row + step], column)
        self._column = column
        return True

    def _step_history(self, step: int) -> None:
        """Through the entries that begin as the text did, which comes back after the newest."""
        if self._recalled is None:
            self._draft = self.buffer.text
        entries = self.history.entries
        beginning = f"!{self._draft}" if self.is_shell else self._draft
        at = len(entries) if self._recalled is None else min(self._recalled, len(entries))
        for _ in range(abs(step)):
            at = _next_entry(entries, at, beginning, 1 if step > 0 else -1)
        if at == self._recalled or (self._recalled is None and at == len(entries)):
            return
        text = self._draft if at == len(entries) else self._recalled_text(entries[at])
        self._replace(text, len(text))
        self._recalled = at

    def _recalled_text(self, entry: str) -> str:
        if self._shell is not _Shell.ON:
            self._shell = _Shell.ONCE if entry.startswith("!") else _Shell.OFF
        return self._pastes.taken_back(entry.removeprefix("!") if self.is_shell else entry)

    def _replace(self, text: str, caret: int) -> None:
        self._is_quiet = True
        try:
            self.buffer.save_to_undo_stack()
            self.buffer.document = Document(text, caret)
        finally:
            self._is_quiet = False
        self.close_menu()

    def _changed(self) -> None:
        self.on_change()

    def _text_changed(self, _: Buffer) -> None:
        self._column = self._recalled = None
        if not self._is_quiet:
            self._ask()
        self._changed()

    def _caret_moved(self, _: Buffer) -> None:
        self._column = None
        if not self._is_quiet and self._answered != (self.buffer.text, self.buffer.cursor_position):
            self._menu.close() if not self._asking else None
        self._changed()

    def _ask(self) -> None:
        """Look for what the text could go on as. What is drawn stays until there is an answer."""
        text, caret = self.buffer.text, self.buffer.cursor_position
        place = None if self.is_shell else place_of(text, caret)
        if self._asking is not None:
            self._asking.cancel()
        if self.suggest is None or place is None or place == self._left_place:
            self.close_menu()
            return
        self._left_place = None
        self._asking = asyncio.create_task(self._answer(self.suggest, text, caret))

    async def _answer(self, suggest: Suggest, text: str, caret: int) -> None:
        try:
            async for found in suggest(text, caret):
                self._answered = (text, caret)
                self._menu.show(found, typed=text[:caret])
                if self._takes_next and found:
                    self.complete()
                    return
                self._changed()
        except (OSError, WorkspaceError):
            self._menu.close()

    def _is_menu_current(self) -> bool:
        return self._menu.is_open and self._answered == (self.buffer.text, self.buffer.cursor_position)

    def _would_change(self, entry: Suggestion) -> bool:
        before = self.buffer.document.text_before_cursor
        return before[len(before) - entry.replaces :] != entry.text.rstrip()

    def _take(self, entry: Suggestion) -> None:
        text, caret = self.buffer.text, self.buffer.cursor_position
        before = text[: caret - entry.replaces] + entry.text
        self._menu.close()
        self._takes_next = False
        self.buffer.save_to_undo_stack()
        self.buffer.document = Document(before + text[caret:], len(before))


def _next_entry(entries: Sequence[str], at: int, beginning: str, step: int) -> int:
    """The next place that begins so; the end where there is none below, and the same where there is none above."""
    place = at + step
    while 0 <= place < len(entries):
        if entries[place].startswith(beginning):
            return place
        place += step
    return at if place < 0 else len(entries)
