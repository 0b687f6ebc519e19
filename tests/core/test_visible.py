"""Nothing that a terminal obeys or hides gets through."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.core.visible import visible

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
BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def is_dangerous(character: str) -> bool:
    """Told from Unicode's own tables, not from the list that is tested."""
    if character in "\t\n":
        return False
    return (
        unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(character) in BIDIRECTIONAL
        or any(first <= ord(character) <= last for first, last in IGNORABLE)
    )


def test_every_character_of_unicode_is_shown_or_kept() -> None:
    wrong = {
        f"U+{number:04X}"
        for number in range(0x110000)
        if is_dangerous(chr(number)) != (visible(chr(number)) == f"<U+{number:04X}>")
        # Interlinear annotation marks are not ignorable but are shown too.
        and not 0xFFF9 <= number <= 0xFFFB
    }
    assert wrong == set()


def test_what_is_kept_is_kept_as_it_is() -> None:
    for number in range(0x110000):
        seen = visible(chr(number))
        assert seen in (chr(number), f"<U+{number:04X}>")


@given(st.text(st.characters(exclude_categories=())))
@example("\u202eabc\U000e0041\x1b[2J\r")
@settings(deadline=None)
def test_nothing_dangerous_survives_and_nothing_else_is_touched(text: str) -> None:
    seen = visible(text)
    assert [character for character in seen if is_dangerous(character)] == []
    shown = [f"<U+{ord(c):04X}>" if is_dangerous(c) or "\ufff9" <= c <= "\ufffb" else c for c in text]
    assert seen == "".join(shown)


@pytest.mark.parametrize(
    "text", ["", "plain text, with\ttabs\nand lines\n", "日本語 Ελληνικά עברית 😀", "e\u0301", "a\u00a0b", "\ue000"]
)
def test_plain_text_is_unchanged(text: str) -> None:
    assert visible(text) == text


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
    assert visible(text) == seen
