"""No control byte ever comes out, whatever goes in and however it is cut."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.text.sanitizer import TerminalSanitizer, escape_typed, make_terminal_safe

PIECES = [
    *("\x1b", "\x1b[", "\x9b", "\x1b]", "\x9d", "\x1bP", "\x90", "\x1b_", "\x1b^", "\x1bX", "\x07", "\x1b\\", "\x9c"),
    *("8;;", "http://evil/", "0;title", "52;c;aGk=", "31", ";", "m", "K", "(", "B", "\\", "]", "["),
    *("\r", "\n", "\r\n", "\t", "\b", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\u200b", "\u200c", "\u200d"),
    *("\ufe0f", "\U000e0041", "\ud800", "👩", "❤", "🏽", "1", "\u20e3", "می", "خ", "क्", "ष", "word", " ", "漢", "é"),
]
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join)
anything = hostile | st.text()

FORBIDDEN = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff\U000e0000-\U000e007f]"


@given(anything)
@example("\x1b]8;;http://evil\x1b")
@example("x\ufe0f\u200d👩")
def test_nothing_that_a_terminal_obeys_comes_out(text: str) -> None:
    assert re.search(FORBIDDEN, make_terminal_safe(text)) is None


@given(anything)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert make_terminal_safe(make_terminal_safe(text)) == make_terminal_safe(text)


@given(anything, st.lists(st.integers(0, 60), max_size=8))
@example("\x1b]0;title\x1b\\after", [5, 10, 11])
@example("a\r\nb", [2])
def test_where_a_text_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    gate = TerminalSanitizer()
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    shown = [gate.feed(text[start:end]) for start, end in pairwise(edges)]
    assert "".join(shown) + gate.finish() == make_terminal_safe(text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "M", "Z"])))
def test_plain_text_is_left_alone(text: str) -> None:
    assert make_terminal_safe(text) == sanitize_text(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1bP1$r\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z", "xyz"),
        ("\x1b]8;id=1;https://evil.example/\x1b\\bank\x1b]8;;\x1b\\!", "<https://evil.example/> bank!"),
        ("\x1b]52;c;never ends", "52;c;never ends"),
        ("\x1b[31", "31"),
        ("\x1b", "<U+001B>"),
        ("\x9b\n", "<U+009B>\n"),
        ("one\rtwo\b\r\n", "one<U+000D>two<U+0008>\n"),
        ("a\tb\n\tc", "a   b\n    c"),
        ("\u202eevil\U000e0041\ud800", "<U+202E>evil<U+E0041><U+D800>"),
        *(
            (emoji, emoji)
            for emoji in ("👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "❤\ufe0f\u200d🔥", "👩🏽\u200d🚀")
        ),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("pass\u200dword x\ufe0f \u200d👩 👩\u200d", "pass<U+200D>word x<U+FE0F> <U+200D>👩 👩<U+200D>"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert make_terminal_safe(text) == shown


def test_a_text_comes_as_soon_as_nothing_can_change_it() -> None:
    gate = TerminalSanitizer()
    assert [gate.feed(part) for part in ("one ", "two\x1b", "[3", "1mthree", "\r", "x")] == [
        *("one ", "two", "", "three", "", "<U+000D>x"),
    ]
    assert gate.feed("\x1b]" + "a" * 2000) == "a" * 2000


@pytest.mark.parametrize("piece", ["\x1b[", "\x1b]", "\x1b]8;", "\x1b[" + "1" * 70, "\x9b;", "👩\u200d", "\x1b(", "\r"])
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    text = piece * (500_000 // len(piece))
    started = time.process_time()
    whole = make_terminal_safe(text)
    gate = TerminalSanitizer()
    shown = "".join(gate.feed(text[at : at + 64]) for at in range(0, len(text), 64)) + gate.finish()
    assert shown == whole
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3"),
        ("pass\u200dword \u200d👩", "pass<U+200D>word <U+200D>👩"),
        ("a\x1b[31m\u202e👩\u200d", "a<U+001B>[31m<U+202E>👩<U+200D>"),
        ("one\n\ttwo", "one\n\ttwo"),
    ],
)
def test_typed_text_shows_all_but_joined_emoji(text: str, shown: str) -> None:
    assert escape_typed(text) == shown
