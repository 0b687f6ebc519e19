"""Rows that fit and lose nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.visible import visible
from tejat.frontends.terminal.cells import width_of
from tejat.frontends.terminal.look import ASCII, Look, Part
from tejat.frontends.terminal.paint import rows_of
from tejat.frontends.terminal.rows import cut, one_line, painted, stacked, untabbed, wrapped, wrapped_words

SAFE = st.text(max_size=80).map(one_line)


class TestWrapping:
    def test_where_the_row_is_full(self) -> None:
        assert wrapped("abcdefgh", width=5, first="$ ", rest="| ") == ["$ abc", "| def", "| gh"]
        assert wrapped("", width=5, first="$ ") == ["$ "]
        assert wrapped("日本語", width=5) == ["日本", "語"]

    def test_behind_a_blank_where_there_is_one_near_the_end(self) -> None:
        assert wrapped("one two three", width=8, rest="| ", at_blanks=True) == ["one two ", "| three"]
        assert wrapped("a bcdefghijklm", width=8, rest="| ", at_blanks=True) == ["a bcdefg", "| hijklm"]

    @given(SAFE, st.integers(4, 40), st.sampled_from(["", "$ "]), st.booleans())
    @settings(max_examples=300)
    def test_rows_fit_and_lose_nothing(self, text: str, width: int, first: str, at_blanks: bool) -> None:
        rows = wrapped(text, width=width, first=first, rest="| ", at_blanks=at_blanks)
        assert rows[0].startswith(first)
        assert all(row.startswith("| ") for row in rows[1:])
        assert rows[0][len(first) :] + "".join(row[2:] for row in rows[1:]) == text
        assert all(width_of(row) <= width for row in rows)

    @given(SAFE, st.integers(4, 40))
    @settings(max_examples=100)
    def test_what_is_painted_is_drawn_as_it_is(self, text: str, width: int) -> None:
        rows = wrapped(text, width=width)
        group = stacked([painted(Look(), (row, Part.TEXT)) for row in rows])
        drawn = ["".join(cell.text for cell in row) for row in rows_of(group, Look(), width=width)]
        assert drawn == rows

    @given(SAFE, st.integers(4, 40))
    @settings(max_examples=100)
    def test_between_words(self, text: str, width: int) -> None:
        rows = wrapped_words(text, width=width)
        assert all(width_of(row) <= width for row in rows)
        assert "".join(rows).replace(" ", "") == "".join(text.split()).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 0, "")],
)
def test_what_is_cut_is_marked(text: str, width: int, kept: str) -> None:
    assert cut(text, width, Look()) == kept
    assert cut(text, width, Look(glyphs=ASCII)) == kept.replace("…", "~")


def test_tabs_become_blanks() -> None:
    assert untabbed("a\tb\t\tc") == "a       b               c"
    assert untabbed("日\tb") == "日      b"


@given(st.text(max_size=60))
def test_one_line_is_safe(text: str) -> None:
    assert "\n" not in one_line(text)
    assert "\t" not in one_line(text)
    assert one_line(text).split() == visible(text.replace("\n", "<U+000A>")).split()
