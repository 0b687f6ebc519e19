"""Rows that fit and lose nothing."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.core.sanitize import sanitize_text
from tejat.ui.terminal.render.cells import text_width
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.text_rows import (
    expand_tabs,
    single_line,
    stack_rows,
    styled_row,
    truncate,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, StyleRole, Theme

SAFE = st.text(max_size=80).map(single_line)


class TestWrapping:
    def test_where_the_row_is_full(self) -> None:
        assert wrap_text("abcdefgh", width=5, first="$ ", rest="| ") == ["$ abc", "| def", "| gh"]
        assert wrap_text("", width=5, first="$ ") == ["$ "]
        assert wrap_text("日本語", width=5) == ["日本", "語"]

    def test_behind_a_blank_where_there_is_one_near_the_end(self) -> None:
        assert wrap_text("one two three", width=8, rest="| ", at_blanks=True) == ["one two ", "| three"]
        assert wrap_text("a bcdefghijklm", width=8, rest="| ", at_blanks=True) == ["a bcdefg", "| hijklm"]

    @given(SAFE, st.integers(4, 40), st.sampled_from(["", "$ "]), st.booleans())
    @example("\u17be<U+001F>", 4, "$ ", False)
    @settings(max_examples=300)
    def test_rows_fit_and_lose_nothing(self, text: str, width: int, first: str, at_blanks: bool) -> None:
        rows = wrap_text(text, width=width, first=first, rest="| ", at_blanks=at_blanks)
        assert rows[0].startswith(first)
        assert all(row.startswith("| ") for row in rows[1:])
        assert rows[0][len(first) :] + "".join(row[2:] for row in rows[1:]) == text
        assert all(text_width(row) <= width for row in rows)

    @given(SAFE, st.integers(4, 40))
    @settings(max_examples=100)
    def test_what_is_painted_is_drawn_as_it_is(self, text: str, width: int) -> None:
        rows = wrap_text(text, width=width)
        group = stack_rows([styled_row(Theme(), (row, StyleRole.TEXT)) for row in rows])
        drawn = ["".join(cell.text for cell in row) for row in render_rows(group, Theme(), width=width)]
        assert drawn == rows

    @given(SAFE, st.integers(4, 40))
    @settings(max_examples=100)
    def test_between_words(self, text: str, width: int) -> None:
        rows = wrap_words(text, width=width)
        assert all(text_width(row) <= width for row in rows)
        assert "".join(rows).replace(" ", "") == "".join(text.split()).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 0, "")],
)
def test_what_is_cut_is_marked(text: str, width: int, kept: str) -> None:
    assert truncate(text, width, Theme()) == kept
    assert truncate(text, width, Theme(glyphs=ASCII_GLYPHS)) == kept.replace("…", "~")


def test_tabs_become_blanks() -> None:
    assert expand_tabs("a\tb\t\tc") == "a       b               c"
    assert expand_tabs("日\tb") == "日      b"


@given(st.text(max_size=60))
def test_one_line_is_safe(text: str) -> None:
    assert "\n" not in single_line(text)
    assert "\t" not in single_line(text)
    assert single_line(text).split() == sanitize_text(text.replace("\n", "<U+000A>")).split()
