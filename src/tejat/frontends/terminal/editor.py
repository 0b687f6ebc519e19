"""Where a person types: the text, what keys do to it, and what it could go on as."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import Enum, auto

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings

from tejat.frontends.terminal.cells import Picture
from tejat.frontends.terminal.completion import At, Completion
from tejat.frontends.terminal.editor_buffer import EditorBuffer
from tejat.frontends.terminal.editor_keys import editor_bindings
from tejat.frontends.terminal.editor_view import Content, broken, caret_of, place_near, view
from tejat.frontends.terminal.look import Look
from tejat.frontends.terminal.pastes import Pastes
from tejat.frontends.terminal.prompt_history import PromptHistory
from tejat.frontends.terminal.recall import Recall
from tejat.frontends.terminal.suggesting import Suggest

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
        self.history = history or PromptHistory()
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
        self.on_expand: Callable[[], None] = _nothing
        self.on_next_mode: Callable[[], None] = _nothing
        self.buffer: Buffer = EditorBuffer(self.step_history)
        self.bindings: KeyBindings = editor_bindings(self)
        self._completion = Completion(suggest, on_change=self._tell_change, on_take=self._take)
        self._pastes = Pastes()
        self._recall = Recall()
        self._shell = _Shell.OFF
        self._is_quiet = False
        self._top = 0
        self._width = 80
        self._column: int | None = None
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
    def has_menu(self) -> bool:
        return self._completion.is_open

    @property
    def can_escape(self) -> bool:
        """Whether Escape has a meaning here: a menu to close, shell mode to leave."""
        return self.has_menu or (self.is_shell and self.is_empty)

    def view(self, *, width: int, height: int) -> Picture:
        """The text with its caret and, below it, what it could go on as, in at most so many rows."""
        self._width = width
        menu = self._completion.rows(self.look, width=width, height=max(height - 1, 0))
        drawn = view(self._content(), look=self.look, width=width, height=max(height - len(menu), 1), top=self._top)
        self._top = drawn.top
        return Picture((*drawn.picture.rows, *menu), drawn.picture.caret)

    def put(self, text: str) -> None:
        """Into the editor, before what stands there. If nothing does, it is for the shell if it begins with `!`."""
        if self.is_empty:
            text = self._aimed(text)
        stands, caret = self.buffer.text, self.buffer.cursor_position
        put = self._pastes.taken_back(text) + (_BETWEEN if stands else "")
        self._recall.end()
        self._replace(put + stands, len(put) + caret)

    def replace(self, text: str) -> None:
        """Instead of what stands there, and for the same: the shell or the model."""
        put = self._pastes.taken_back(text)
        self._recall.end()
        self._replace(put, len(put))

    def clear(self) -> None:
        """Drop the text. Shell mode stays, unless it was for this text only."""
        self._drop_text()
        self._end_once()

    def close(self) -> None:
        """Stop looking for what the text could go on as."""
        self._completion.close()

    # What keys do.

    def type(self, text: str) -> None:
        """Put in what was typed. A `!` at the beginning of nothing makes a line for the shell, or ends shell mode."""
        if text == "!" and self.is_empty:
            self._set_shell(_Shell.OFF if self.is_shell else _Shell.ONCE)
        else:
            self.buffer.insert_text(self._pastes.typed(text))

    def paste(self, text: str) -> None:
        """Put in what was pasted. It is never entered; one line that begins with `!` is for the shell."""
        pasted = self._pastes.taken(text)
        if self.is_empty and not self.is_shell and pasted.startswith("!") and "\n" not in pasted.strip():
            self._shell, pasted = _Shell.ONCE, pasted[1:]
        self._recall.end()
        with self._quietly():
            self.buffer.insert_text(pasted)

    def new_line(self) -> None:
        self.buffer.insert_text("\n")

    def enter(self) -> None:
        """Take what is marked in the menu, go on in a new line after a backslash, or submit.

        After a `!` alone all further lines are for the shell.
        """
        if self._shell is _Shell.ONCE and self.is_empty:
            self._set_shell(_Shell.ON)
            return
        at = self._at()
        marked = self._completion.marked(at)
        if marked is not None and not at.has_entry(marked):
            self._completion.close()
            self._take(at.with_entry(marked))
            # A command that takes no more words is complete.
            if not at.is_command_name or marked.text.endswith(" "):
                return
        elif at.text[: at.caret].endswith("\\"):
            # To a shell the backslash means that the line goes on, and without it there would be two.
            if not self.is_shell:
                self.buffer.delete_before_cursor()
            self.new_line()
            return
        self._hand_over(self.on_submit)

    def steer(self) -> None:
        """Hand the text to the run that goes on."""
        if not self.is_shell:
            self._hand_over(self.on_steer)

    def up(self) -> None:
        """A row up, or an entry back in the menu or the history. An empty editor first takes back what waits."""
        if self.has_menu:
            self._completion.move(-1)
        elif not self._move_row(-1):
            waiting = self.on_take_back() if self.is_empty else None
            if waiting is None:
                self.step_history(-1)
            else:
                self.put(waiting)

    def down(self) -> None:
        if self.has_menu:
            self._completion.move(1)
        elif not self._move_row(1):
            self.step_history(1)

    def complete(self) -> None:
        """Take what is marked in the menu, or the best there is."""
        if not self.is_shell:
            self._completion.take_best(self._at())

    def escape(self) -> None:
        if self.has_menu:
            self._completion.leave(self._at())
        else:
            self._set_shell(_Shell.OFF)

    def backspace(self) -> None:
        if self.is_shell and self.buffer.cursor_position == 0:
            self._set_shell(_Shell.OFF)
        else:
            self.buffer.delete_before_cursor()

    def step_history(self, step: int) -> None:
        """So many entries on or back, among those that begin as the text does."""
        sign = "!" if self.is_shell else ""
        found = self._recall.step(self.history.entries, sign + self.text, step)
        if found is None:
            return
        recalled = self._pastes.taken_back(self._aimed(found))
        self._replace(recalled, len(recalled))

    # How the parts go together.

    def _hand_over(self, take: Callable[[str], None]) -> None:
        shown, text = self.buffer.text, self.text.rstrip()
        if not text:
            return
        if not self.is_shell and (text.startswith("!") or (text.startswith("/") and not shown.startswith("/"))):
            text = f" {text}"
        self.history.add(f"!{text}" if self.is_shell else text)
        self._drop_text()
        take(text)
        if self.is_empty:
            self._end_once()

    def _aimed(self, text: str) -> str:
        """Set the mode that a whole text wants by its first letter, and return the rest."""
        if not text.startswith("!"):
            self._shell = _Shell.OFF
            return text
        self._shell = _Shell.ON if self._shell is _Shell.ON else _Shell.ONCE
        return text[1:]

    def _drop_text(self) -> None:
        with self._quietly():
            self.buffer.reset()
        self._recall.end()
        self._pastes.forget()
        self._top = 0

    def _end_once(self) -> None:
        self._set_shell(_Shell.OFF if self._shell is _Shell.ONCE else self._shell)

    def _set_shell(self, shell: _Shell) -> None:
        self._shell = shell
        self.on_change()

    def _tell_change(self) -> None:
        self.on_change()

    def _at(self) -> At:
        return At(self.buffer.text, self.buffer.cursor_position)

    def _take(self, at: At) -> None:
        self.buffer.document = Document(at.text, at.caret)

    def _content(self) -> Content:
        document = self.buffer.document
        return Content(
            document.text,
            document.cursor_position,
            selected=list(document.selection_ranges()) if document.selection else (),
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

    def _replace(self, text: str, caret: int) -> None:
        with self._quietly():
            self.buffer.save_to_undo_stack()
            self.buffer.document = Document(text, caret)

    @contextmanager
    def _quietly(self) -> Generator[None]:
        """What changes now was not typed, and nothing is suggested for it."""
        self._completion.close()
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False

    def _text_changed(self, _: Buffer) -> None:
        self._column = None
        if not self._is_quiet:
            self._recall.end()
            if not self.is_shell:
                self._completion.follow(self._at())
        self.on_change()

    def _caret_moved(self, _: Buffer) -> None:
        self._column = None
        if not self._is_quiet:
            self._completion.moved(self._at())
        self.on_change()
