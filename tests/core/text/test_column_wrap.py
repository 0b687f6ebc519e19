"""Wrapping of text by columns."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.text.column_wrap import wrap_columns


def wrap(text: str, width: int, *, first: str = "", rest: str = "", at_blanks: bool = False) -> list[str]:
    graphemes = ((character, 1) for character in text)
    return wrap_columns(graphemes, width=width, measure=len, first=first, rest=rest, at_blanks=at_blanks)


def test_rows_begin_with_their_prefixes() -> None:
    assert wrap("abcdefgh", 5, first="$ ", rest="> ") == ["$ abc", "> def", "> gh"]
    assert wrap("", 5, first="$ ") == ["$ "]


def test_at_blanks() -> None:
    assert wrap("one two three", 8, at_blanks=True) == ["one two ", "three"]
    assert wrap("one two three", 8) == ["one two ", "three"]
    assert wrap("a bcdefghij", 8, at_blanks=True) == ["a bcdefg", "hij"]


@given(st.text(alphabet="ab ", max_size=40), st.integers(3, 12), st.booleans())
def test_nothing_is_lost(text: str, width: int, at_blanks: bool) -> None:
    rows = wrap(text, width, first="> ", rest="> ", at_blanks=at_blanks)
    assert "".join(row.removeprefix("> ") for row in rows) == text
    assert all(len(row) <= width for row in rows)


def test_wide_characters_count_as_two() -> None:
    wide = (("日", 2), ("本", 2), ("a", 1))
    assert wrap_columns(wide, width=3, measure=len) == ["日", "本a"]
