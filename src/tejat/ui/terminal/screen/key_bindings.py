"""Key bindings outside the editor: global keys, and key names for dialogs."""

from collections.abc import Callable, Sequence

from prompt_toolkit.application import get_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, buffer_has_focus, emacs_mode, vi_navigation_mode
from prompt_toolkit.key_binding import ConditionalKeyBindings, KeyBindings, KeyBindingsBase, KeyPress
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys

from tejat.core.frozen import Frozen

KeyAction = Callable[[], None]


class GlobalKeyActions(Frozen):
    """Actions of the global keys."""

    interrupt: KeyAction
    escape: KeyAction
    end: KeyAction
    suspend: KeyAction
    refresh: KeyAction


def global_bindings(actions: GlobalKeyActions) -> KeyBindingsBase:
    """Return the bindings outside dialogs, unless the editor uses the key, as Escape while typing in vi mode."""
    bindings = KeyBindings()
    is_empty = Condition(lambda: not get_app().current_buffer.text)

    bindings.add(Keys.ControlC)(_without_event(actions.interrupt))
    bindings.add(Keys.SIGINT)(_without_event(actions.interrupt))
    bindings.add(Keys.ControlD, filter=is_empty)(_without_event(actions.end))
    bindings.add(Keys.ControlZ)(_without_event(actions.suspend))
    bindings.add(Keys.ControlL)(_without_event(actions.refresh))

    @bindings.add(Keys.Escape, filter=emacs_mode | vi_navigation_mode | is_empty)
    def escape(event: KeyPressEvent) -> None:
        if event.app.editing_mode is EditingMode.VI:
            event.app.vi_state.input_mode = InputMode.NAVIGATION
        actions.escape()

    return ConditionalKeyBindings(bindings, buffer_has_focus)


def _without_event(act: KeyAction) -> Callable[[KeyPressEvent], None]:
    def handle(_: KeyPressEvent) -> None:
        act()

    return handle


def dialog_bindings(press: Callable[[str], None]) -> KeyBindings:
    """Bind all keys by name. Alt combinations, which begin with Escape, are ignored."""
    bindings = KeyBindings()

    @bindings.add(Keys.Any)
    def key(event: KeyPressEvent) -> None:
        for name in key_names(event.key_sequence[0]):
            press(name)

    @bindings.add(Keys.Escape, Keys.Any)
    def key_with_alt(event: KeyPressEvent) -> None: ...

    return bindings


def key_names(press: KeyPress) -> Sequence[str]:
    """Return the names of a key press for a dialog: `c-x` for Ctrl-X, the characters of a paste between markers."""
    if press.key is Keys.BracketedPaste:
        # A pasted newline is a character, not Enter.
        text = press.data.replace("\r\n", "\n").replace("\r", "\n")
        return ["paste", *(each for each in text if each.isprintable() or each == "\n"), "paste-end"]
    key = press.key
    return [_DIALOG_KEY_NAMES.get(key, key.value) if isinstance(key, Keys) else key]


_DIALOG_KEY_NAMES = {
    Keys.ControlM: "enter",
    Keys.ControlJ: "enter",
    Keys.ControlI: "tab",
    Keys.ControlH: "backspace",
    Keys.SIGINT: "c-c",
    Keys.BackTab: "s-tab",
}
