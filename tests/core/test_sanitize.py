"""Nothing that a terminal obeys or hides gets through."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.core.i18n import LazyString, lazy, translate
from tejat.core.sanitize import (
    hidden_characters,
    is_blank,
    sanitize_line,
    sanitize_summary,
    sanitize_text,
    strip_hidden,
)

# Code points that Unicode calls default-ignorable: a terminal draws nothing for them.
IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
NEVER_DRAWN = frozenset(chr(number) for first, last in IGNORABLE for number in range(first, last + 1))
BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def is_dangerous(character: str) -> bool:
    """Told from Unicode's own tables, not from the list that is tested."""
    if character in "\t\n":
        return False
    return (
        unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(character) in BIDIRECTIONAL
        or character in NEVER_DRAWN
    )


def as_shown(character: str) -> str:
    # Interlinear annotation marks are not ignorable, but a terminal draws nothing for them either.
    is_hidden = is_dangerous(character) or "\ufff9" <= character <= "\ufffb"
    return f"<U+{ord(character):04X}>" if is_hidden else character


def test_every_character_of_unicode_is_shown_or_kept() -> None:
    characters = map(chr, range(0x110000))
    wrong = [f"U+{ord(character):04X}" for character in characters if sanitize_text(character) != as_shown(character)]
    assert wrong == []


@given(st.text(st.characters(exclude_categories=())))
@example("\u202eabc\U000e0041\x1b[2J\r")
@settings(deadline=None)
def test_nothing_dangerous_survives_and_nothing_else_is_touched(text: str) -> None:
    seen = sanitize_text(text)
    assert [character for character in seen if is_dangerous(character)] == []
    assert seen == "".join(map(as_shown, text))


@pytest.mark.parametrize(
    "text", ["", "plain text, with\ttabs\nand lines\n", "日本語 Ελληνικά עברית 😀", "e\u0301", "a\u00a0b", "\ue000"]
)
def test_plain_text_is_unchanged(text: str) -> None:
    assert sanitize_text(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[31mred", "a<U+001B>[31mred"),
        ("over\rwritten", "over<U+000D>written"),
        ("\x9b0m", "<U+009B>0m"),
        ("if \u2066x\u2069", "if <U+2066>x<U+2069>"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("\udc80", "<U+DC80>"),
        ("pass\u200bword", "pass<U+200B>word"),
    ],
)
def test_hidden_characters_are_named(text: str, seen: str) -> None:
    assert sanitize_text(text) == seen


@given(st.text())
@settings(deadline=None)
def test_what_would_be_named_can_be_left_out_instead(text: str) -> None:
    assert strip_hidden(text) == "".join(character for character in text if not is_dangerous(character))


class TestOneLine:
    def test_line_ends_and_tabs_are_shown(self) -> None:
        assert sanitize_line("a\n\tb\x1b") == "a<U+000A><U+0009>b<U+001B>"
        assert sanitize_line("a\n\tb", keep_tabs=True) == "a<U+000A>\tb"

    def test_a_summary_has_single_spaces(self) -> None:
        assert sanitize_summary(" a\r\n\t b\u202e ") == "a b<U+202E>"

    @pytest.mark.parametrize("sanitize", [sanitize_line, sanitize_summary, sanitize_text])
    def test_a_lazy_string_stays_lazy(self, sanitize: Callable[[str], str]) -> None:
        text = sanitize(lazy("a\x1b{name}", name="b\x1b"))
        assert text == translate(text) == "a<U+001B>b<U+001B>"
        assert isinstance(text, LazyString)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\ufeff \u2060\n", "\x00\x1b"])
def test_a_text_of_hidden_characters_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}a{text}")


def test_hidden_characters_for_a_notice() -> None:
    assert hidden_characters("plain\ttext\n✔\ufe0f👨\u200d👩") == ""
    assert hidden_characters("a\u202eb\u200bc\u200b") == "<U+200B>, <U+202E>"
    assert hidden_characters("\x01\x02\x03\x04\x05\x06").endswith("<U+0005>, ...")
