"""Key bindings of the editor, in addition to prompt_toolkit's emacs and vi bindings."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, FilterOrBool, emacs_insert_mode, has_selection, vi_insert_mode
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from tejat.ui.terminal.editor.prompt_editor import PromptEditor

# Shift-Enter, Alt-Enter and Ctrl-Enter, where terminals report them.
_NEW_LINE_CODES = ("\x1b[13;2u", "\x1b[13;3u", "\x1b[13;5u", "\x1b[27;2;13~", "\x1b[27;3;13~", "\x1b[27;5;13~")


def editor_bindings(editor: "PromptEditor") -> KeyBindings:
    """Return the bindings of this editor, to be placed above prompt_toolkit's own."""
    ANSI_SEQUENCES.update(dict.fromkeys(_NEW_LINE_CODES, Keys.ControlJ))
    bindings = KeyBindings()
    _bind_text(bindings, editor)
    _bind_moves(bindings, editor)
    _bind_actions(bindings, editor)
    return bindings


_insert_mode = vi_insert_mode | emacs_insert_mode


def _bind_text(bindings: KeyBindings, editor: "PromptEditor") -> None:
    @bindings.add(Keys.Any, filter=_insert_mode, save_before=_starts_undo_step)
    def _(event: KeyPressEvent) -> None:
        editor.type(event.data * event.arg)

    @bindings.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        editor.paste(event.data)

    _bind(bindings, editor.enter, "enter")
    _bind(bindings, editor.new_line, "c-j", filter=_insert_mode)
    _bind(bindings, editor.new_line, "escape", "enter", filter=_insert_mode)
    _bind(bindings, editor.new_line, "escape", "c-j", filter=_insert_mode)
    _bind(bindings, editor.backspace, "backspace", filter=_insert_mode & ~has_selection, save_before=_starts_undo_step)


def _bind_moves(bindings: KeyBindings, editor: "PromptEditor") -> None:
    has_menu = Condition(lambda: editor.has_menu)
    _bind(bindings, editor.up, "up", filter=~has_selection)
    _bind(bindings, editor.down, "down", filter=~has_selection)
    _bind(bindings, editor.up, "c-p", filter=emacs_insert_mode | has_menu)
    _bind(bindings, editor.down, "c-n", filter=emacs_insert_mode | has_menu)
    _bind(bindings, editor.complete, "tab", filter=_insert_mode)
    _bind(bindings, editor.escape, "escape", filter=Condition(lambda: editor.can_escape))


def _bind_actions(bindings: KeyBindings, editor: "PromptEditor") -> None:
    _bind(bindings, editor.steer, "c-s")
    _bind(bindings, editor.steer, "escape", "s")
    # By default it submits the line, which only Enter should.
    _bind(bindings, lambda: None, "escape", "#")
    handler = editor.handler
    _bind(bindings, handler.on_search_history, "c-r")
    _bind(bindings, handler.on_external_editor, "c-g")
    _bind(bindings, handler.on_external_editor, "c-x", "c-e")
    _bind(bindings, handler.on_expand, "c-o")
    # Without todos it swaps two characters, as everywhere.
    _bind(bindings, handler.on_toggle_todos, "c-t", filter=Condition(lambda: handler.has_todos))
    _bind(bindings, handler.on_next_mode, "s-tab")
    _bind(bindings, handler.on_toggle_yolo, "c-y")

    # Ctrl-Y is taken, so Alt-Y pastes killed text too, not only older text.
    @bindings.add("escape", "y", filter=emacs_insert_mode)
    def _(event: KeyPressEvent) -> None:
        is_pasted = event.current_buffer.document_before_paste is not None
        get_by_name("yank-pop" if is_pasted else "yank").call(event)


def _bind(
    bindings: KeyBindings,
    act: Callable[[], None],
    *keys: str,
    filter: FilterOrBool = True,  # noqa: A002 -- prompt_toolkit's name
    save_before: Callable[[KeyPressEvent], bool] = lambda _: True,
) -> None:
    def handle(_: KeyPressEvent) -> None:
        act()

    bindings.add(*keys, filter=filter, save_before=save_before)(handle)


def _starts_undo_step(event: KeyPressEvent) -> bool:
    """Undo a run of typed characters in one step."""
    return not event.is_repeat
