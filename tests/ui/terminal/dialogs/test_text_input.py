"""A line that is typed, letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.sanitize import strip_hidden
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.cells import text_width
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme


def typed(keys: list[str], text: str = "") -> TextInput:
    line = TextInput(text)
    for key in keys:
        line.press(key)
    return line


def drawn(
    line: TextInput, *, width: int = 20, most: int = 5, theme: Theme | None = None
) -> tuple[list[str], tuple[int, int]]:
    found = line.render(theme or Theme(), width=width, max_rows=most, first="> ")
    return [row.plain for row in found.rows], found.caret


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (list("abc"), "abc"),
        ([*"abc", "left", "x"], "abxc"),
        ([*"abc", "home", "x", "end", "y"], "xabcy"),
        ([*"abc", "backspace", "backspace"], "a"),
        ([*"abc", "home", "delete"], "bc"),
        (["backspace", "delete", "left", "right"], ""),
        (["a", "\n", "b", "\t", "c", "\r"], "a b c "),
        (["a", "up", "c-k", "paste", "paste-end", "f5"], "a"),
        (["e", "\u0301", "x", "left", "backspace"], "x"),
        (["\U0001f468", "\u200d", "\U0001f469", "backspace"], ""),
        (["\U0001f1e9", "\U0001f1ea", "left", "a"], "a\U0001f1e9\U0001f1ea"),
    ],
)
def test_keys(keys: list[str], text: str) -> None:
    assert typed(keys).text == text


def test_which_keys_are_its_own() -> None:
    line = TextInput()
    assert [line.press(key) for key in ("a", "left", "up", "enter", "paste")] == [True, True, False, False, False]


def test_the_caret_stands_where_the_next_letter_goes() -> None:
    assert drawn(typed(list("ab日"))) == (["> ab日 "], (6, 0))
    assert drawn(typed([*"ab日", "left"])) == (["> ab日 "], (4, 0))
    assert drawn(TextInput("x" * 18)) == (["> " + "x" * 18, "   "], (2, 1))


def test_of_a_long_line_the_part_around_the_caret() -> None:
    line = TextInput("0123456789" * 5)
    assert drawn(line, width=12, most=2) == (["  0123456789", "   "], (2, 1))
    line.press("home")
    assert drawn(line, width=12, most=2) == (["> 0123456789", "  0123456789"], (2, 0))


def test_nothing_of_a_secret_but_its_length() -> None:
    line = TextInput("pässwörd日", is_secret=True)
    assert drawn(line) == (["> ••••••••• "], (11, 0))
    assert drawn(line, theme=Theme(glyphs=ASCII_GLYPHS))[0] == ["> ********* "]
    assert line.text == "pässwörd日"


@given(st.text(max_size=60), st.integers(6, 30), st.integers(1, 4))
def test_any_text_is_drawn_safely_and_fits(text: str, width: int, most: int) -> None:
    line = TextInput(text)
    rows, (column, row) = drawn(line, width=width, most=most)
    assert len(rows) <= most
    assert all(text_width(each) <= width for each in rows)
    assert 0 <= row < len(rows)
    assert column < width
    assert all(strip_hidden(each) == each for each in rows)
