"""The names of keys."""

import pytest
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from tejat.ui.terminal.screen.key_bindings import key_names


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (Keys.ControlM, "enter"),
        (Keys.ControlJ, "enter"),
        (Keys.ControlI, "tab"),
        (Keys.ControlH, "backspace"),
        (Keys.ControlC, "c-c"),
        (Keys.SIGINT, "c-c"),
        (Keys.BackTab, "s-tab"),
        (Keys.PageUp, "pageup"),
        (Keys.Escape, "escape"),
        (Keys.ControlO, "c-o"),
        ("ä", "ä"),
    ],
)
def test_a_key_has_one_name(key: Keys | str, name: str) -> None:
    assert key_names(KeyPress(key)) == [name]
    assert type(key_names(KeyPress(key))[0]) is str


def test_a_paste_is_characters_and_decides_nothing() -> None:
    assert key_names(KeyPress(Keys.BracketedPaste, "y\r\n\x1b[A\tn\r")) == [
        *("paste", "y", "\n", "[", "A", "n", "\n", "paste-end"),
    ]
