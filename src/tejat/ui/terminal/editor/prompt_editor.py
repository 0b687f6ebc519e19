"""The prompt editor."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings

from tejat.core.text.mentions import escape_signs, unescape_signs
from tejat.core.text.str_enum import StrEnum
from tejat.ui.terminal.editor.buffer import EditorBuffer
from tejat.ui.terminal.editor.completer import CompleteFunction
from tejat.ui.terminal.editor.completion import CompletionRequest, CompletionState
from tejat.ui.terminal.editor.history_cursor import HistoryCursor
from tejat.ui.terminal.editor.key_bindings import editor_bindings
from tejat.ui.terminal.editor.pastes import PasteStore
from tejat.ui.terminal.editor.prompt_history import PromptHistory
from tejat.ui.terminal.editor.view import EditorContent, break_rows, caret_position, offset_at_column, render_editor
from tejat.ui.terminal.render.cells import Frame
from tejat.ui.terminal.render.theme import Theme

_SEPARATOR = "\n\n"


class _ShellMode(StrEnum):
    """Whether input is for the shell: never, this line, or until turned off."""

    OFF = "off"
    ONCE = "once"
    ON = "on"


class EditorHandler:
    """Receiver of editor actions; by default they do nothing."""

    def on_change(self) -> None:
        """Redraw the editor."""

    def on_submit(self, text: str) -> None:
        """Run an entered line, which has left the editor."""

    def on_steer(self, text: str) -> None:
        """Send an entered line to the running turn."""

    def take_queued(self) -> str | None:
        """Return the newest queued line for editing, if any."""

    def on_next_mode(self) -> None: ...

    def on_toggle_yolo(self) -> None: ...

    def on_expand(self) -> None: ...

    @property
    def has_todos(self) -> bool:
        """Whether there is a todo list to show."""
        return False

    def on_toggle_todos(self) -> None: ...

    def on_search_history(self) -> None: ...

    def on_external_editor(self) -> None: ...


class PromptEditor:
    """Editor for prompts. Register `bindings` for `buffer` and draw `view`; `handler` gets what is entered.

    Shell input is passed to `on_submit` without its `!` while `is_shell` is true; in the history, the queue and for
    `prepend` it has one. A prompt that begins with `!` or, as a paste, with `/` gets a leading blank, so that it is not
    taken for a command.
    """

    def __init__(
        self,
        theme: Theme,
        *,
        history: PromptHistory | None = None,
        completer: CompleteFunction | None = None,
        placeholder: str = "",
        handler: EditorHandler | None = None,
    ) -> None:
        self.theme = theme
        self.handler = handler or EditorHandler()
        self.placeholder = placeholder
        self.history = history or PromptHistory()
        self.buffer: Buffer = EditorBuffer(self.step_history)
        self.bindings: KeyBindings = editor_bindings(self)
        self._completion = CompletionState(completer, on_change=self._notify_change, on_accept=self._accept_completion)
        self.escapes_pasted_at = False
        """Whether an `@` in pasted text is escaped, so that it mentions no file."""
        self._pastes = PasteStore()
        self._history_cursor = HistoryCursor()
        self._shell = _ShellMode.OFF
        self._completion_suppressed = False
        self._top = 0
        self._width = 80
        self._column: int | None = None
        self.buffer.on_text_changed += self._on_text_changed
        self.buffer.on_cursor_position_changed += self._on_caret_moved

    @property
    def text(self) -> str:
        """The text with its pastes expanded."""
        return self._pastes.expand(self.buffer.text)

    @property
    def is_shell(self) -> bool:
        """Whether Enter runs the text as a shell command."""
        return self._shell is not _ShellMode.OFF

    @property
    def is_empty(self) -> bool:
        return not self.buffer.text

    @property
    def has_menu(self) -> bool:
        return self._completion.is_open

    @property
    def can_escape(self) -> bool:
        """Whether Escape closes a menu or leaves shell mode."""
        return self.has_menu or (self.is_shell and self.is_empty)

    def view(self, *, width: int, height: int) -> Frame:
        """Return the text with its caret and the completion menu, in at most `height` rows."""
        self._width = width
        menu = self._completion.rows(self.theme, width=width, height=max(height - 1, 0))
        rendered = render_editor(
            self._content(), theme=self.theme, width=width, height=max(height - len(menu), 1), top=self._top
        )
        self._top = rendered.top
        return Frame((*rendered.frame.rows, *menu), rendered.frame.caret)

    def prepend(self, text: str) -> None:
        """Insert before the existing text. In an empty editor a leading `!` selects shell mode."""
        if self.is_empty:
            text = self._apply_shell_prefix(text)
        existing, caret = self.buffer.text, self.buffer.cursor_position
        prefix = self._pastes.collapse(text) + (_SEPARATOR if existing else "")
        self._history_cursor.reset()
        self._replace(prefix + existing, len(prefix) + caret)

    def replace(self, text: str) -> None:
        """Replace the text, keeping the mode."""
        replacement = self._pastes.collapse(text)
        self._history_cursor.reset()
        self._replace(replacement, len(replacement))

    def clear(self) -> None:
        """Drop the text, and shell mode if it was for this line only."""
        self._reset_text()
        self._end_one_shot_shell()

    def close(self) -> None:
        """Stop completing."""
        self._completion.close()

    # Key actions

    def type(self, text: str) -> None:
        """Insert typed text. A `!` in an empty editor toggles shell mode."""
        if text == "!" and self.is_empty:
            self._set_shell(_ShellMode.OFF if self.is_shell else _ShellMode.ONCE)
        else:
            self.buffer.insert_text(self._pastes.insert_typed(text))

    def paste(self, text: str) -> None:
        """Insert pasted text without submitting. A single line beginning with `!` is for the shell."""
        is_escaped = self.escapes_pasted_at and not self.is_shell and not self.buffer.text.startswith("/")
        pasted = self._pastes.insert_paste(escape_signs(text) if is_escaped else text)
        if self.is_empty and not self.is_shell and pasted.startswith("!") and "\n" not in pasted.strip():
            self._shell, pasted = _ShellMode.ONCE, pasted[1:]
            pasted = unescape_signs(pasted) if is_escaped else pasted
        self._history_cursor.reset()
        with self._suppress_completion():
            self.buffer.insert_text(pasted)

    def new_line(self) -> None:
        self.buffer.insert_text("\n")

    def enter(self) -> None:
        """Accept a completion, continue after a backslash, or submit. After a lone `!` all lines are for the shell."""
        if self._shell is _ShellMode.ONCE and self.is_empty:
            self._set_shell(_ShellMode.ON)
            return
        request = self._completion_request()
        selected = self._completion.selected(request)
        if selected is not None and not request.is_applied(selected):
            self._completion.close()
            self._accept_completion(request.apply(selected))
            # A command without arguments is complete and is submitted.
            if not request.is_command_name or selected.text.endswith(" "):
                return
        elif request.text[: request.caret].endswith("\\"):
            # A shell needs the backslash to continue the line.
            if not self.is_shell:
                self.buffer.delete_before_cursor()
            self.new_line()
            return
        self._submit_to(self.handler.on_submit)

    def steer(self) -> None:
        """Send the text to the running turn."""
        if not self.is_shell:
            self._submit_to(self._steer)

    def up(self) -> None:
        """Move up a row, or back in the menu, queue or history."""
        if self.has_menu:
            self._completion.move(-1)
        elif not self._move_row(-1):
            unqueued = self.handler.take_queued() if self.is_empty else None
            if unqueued is None:
                self.step_history(-1)
            else:
                self.prepend(unqueued)

    def down(self) -> None:
        if self.has_menu:
            self._completion.move(1)
        elif not self._move_row(1):
            self.step_history(1)

    def complete(self) -> None:
        """Accept the selected completion, or the best one."""
        if not self.is_shell:
            self._completion.accept_best(self._completion_request())

    def escape(self) -> None:
        if self.has_menu:
            self._completion.dismiss(self._completion_request())
        else:
            self._set_shell(_ShellMode.OFF)

    def backspace(self) -> None:
        if self.is_shell and self.buffer.cursor_position == 0:
            self._set_shell(_ShellMode.OFF)
        else:
            self.buffer.delete_before_cursor()

    def step_history(self, step: int) -> None:
        """Move through the history entries that match the text."""
        sign = "!" if self.is_shell else ""
        found = self._history_cursor.step(self.history.entries, sign + self.text, step)
        if found is None:
            return
        recalled = self._pastes.collapse(self._apply_shell_prefix(found))
        self._replace(recalled, len(recalled))

    # Internals

    def _steer(self, text: str) -> None:
        """Steering text mentions no files, so nothing in it needs to stay escaped."""
        self.handler.on_steer(unescape_signs(text) if self.escapes_pasted_at else text)

    def _submit_to(self, accept: Callable[[str], None]) -> None:
        shown, text = self.buffer.text, self.text.rstrip()
        if not text:
            return
        if not self.is_shell and (text.startswith("!") or (text.startswith("/") and not shown.startswith("/"))):
            text = f" {text}"
        self.history.add(f"!{text}" if self.is_shell else text)
        self._reset_text()
        accept(text)
        if self.is_empty:
            self._end_one_shot_shell()

    def _apply_shell_prefix(self, text: str) -> str:
        """Set the mode by a leading `!`, and return the rest."""
        if not text.startswith("!"):
            self._shell = _ShellMode.OFF
            return text
        self._shell = _ShellMode.ON if self._shell is _ShellMode.ON else _ShellMode.ONCE
        return text[1:]

    def _reset_text(self) -> None:
        with self._suppress_completion():
            self.buffer.reset()
        self._history_cursor.reset()
        self._pastes.prune()
        self._top = 0

    def _end_one_shot_shell(self) -> None:
        self._set_shell(_ShellMode.OFF if self._shell is _ShellMode.ONCE else self._shell)

    def _set_shell(self, shell: _ShellMode) -> None:
        self._shell = shell
        self.handler.on_change()

    def _notify_change(self) -> None:
        self.handler.on_change()

    def _completion_request(self) -> CompletionRequest:
        return CompletionRequest(self.buffer.text, self.buffer.cursor_position)

    def _accept_completion(self, request: CompletionRequest) -> None:
        self.buffer.document = Document(request.text, request.caret)

    def _content(self) -> EditorContent:
        document = self.buffer.document
        return EditorContent(
            document.text,
            document.cursor_position,
            selected=list(document.selection_ranges()) if document.selection else (),
            label=self._pastes.label,
            is_shell=self.is_shell,
            placeholder="" if self.is_shell else self.placeholder,
        )

    def _move_row(self, step: int) -> bool:
        """Move to the row above or below, close to the same column; return False if there is none."""
        rows = break_rows(self._content(), theme=self.theme, width=self._width)
        row, column = caret_position(rows, self.buffer.cursor_position)
        if not 0 <= row + step < len(rows):
            return False
        column = column if self._column is None else self._column
        self.buffer.cursor_position = offset_at_column(rows[row + step], column)
        self._column = column
        return True

    def _replace(self, text: str, caret: int) -> None:
        with self._suppress_completion():
            self.buffer.save_to_undo_stack()
            self.buffer.document = Document(text, caret)

    @contextmanager
    def _suppress_completion(self) -> Generator[None]:
        """Change the text without completing it."""
        self._completion.close()
        self._completion_suppressed = True
        try:
            yield
        finally:
            self._completion_suppressed = False

    def _on_text_changed(self, _: Buffer) -> None:
        self._column = None
        if not self._completion_suppressed:
            self._history_cursor.reset()
            if not self.is_shell:
                self._completion.update(self._completion_request())
        self.handler.on_change()

    def _on_caret_moved(self, _: Buffer) -> None:
        self._column = None
        if not self._completion_suppressed:
            self._completion.caret_moved(self._completion_request())
        self.handler.on_change()
