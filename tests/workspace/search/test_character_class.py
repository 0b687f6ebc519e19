"""Sets of characters mean the same however they are spelled."""

import os
import re
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path
from unicodedata import ucd_3_2_0

import pytest

from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.search.character_class import (
    NO_CHARACTER,
    PERL_CLASSES,
    WORD,
    CharacterClass,
    ClassItem,
    InvalidRegex,
    Ranges,
    compile_linear,
    escape,
    fold_ranges,
    format_ranges,
)


def of(*items: ClassItem, negated: bool = False, folds: bool = False) -> CharacterClass:
    return CharacterClass(items, negated=negated, ignores_case=folds)


def holds(ranges: Ranges, character: str) -> bool:
    index = bisect_right(ranges, (ord(character), sys.maxunicode)) - 1
    return index >= 0 and ord(character) <= ranges[index][1]


A = ClassItem.from_character("a")


@pytest.mark.parametrize(
    ("character_class", "inside", "outside"),
    [
        (of(A), "a", "Ab"),
        (of(A, folds=True), "aA", "b"),
        (of(A, negated=True), "b日\t", "a\r\n"),
        (of(ClassItem.from_range("a", "c")), "abc", "dA"),
        (of(ClassItem.from_posix("[:alpha:]")), "aZ", "é0"),
        (of(ClassItem.from_property("Lu", negated=False)), "AÉ", "aé"),
        (of(ClassItem.from_property("Lu", negated=True)), "aé", "AÉ\n"),
        (of(PERL_CLASSES["d"]), "0٣", "a²"),
        (of(PERL_CLASSES["D"]), "a²", "0٣\n\r"),
        (of(PERL_CLASSES["s"]), " \t\u00a0\u2028", "a\n\r\u200b"),
        (of(PERL_CLASSES["S"]), "a\u200b日", " \u3000\n\r"),
        (of(PERL_CLASSES["w"]), "a_0é日\u0301Ⅷⓐ\u200d", "- ²€"),
        (of(PERL_CLASSES["W"]), "- ²€", "a_é日\n\r"),
        (of(PERL_CLASSES["W"], ClassItem.from_character("_"), negated=True), "aé日", "_-\n"),
    ],
)
def test_ranges(character_class: CharacterClass, inside: str, outside: str) -> None:
    assert [holds(character_class.ranges, character) for character in inside] == [True] * len(inside)
    assert [holds(character_class.ranges, character) for character in outside] == [False] * len(outside)


def test_surrogates_are_in_no_set() -> None:
    assert of(A, negated=True).ranges == (
        (0, 9),
        (11, 12),
        (14, 96),
        (98, 0xD7FF),
        (0xE000, 0x10FFFF),
    )


def test_folding_reaches_beyond_ascii() -> None:
    assert fold_ranges("k") == ((0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A))
    assert fold_ranges("1") == ((0x31, 0x31),)


def test_ascii_members() -> None:
    assert of(ClassItem.from_range("x", "z"), ClassItem.from_character("é"), folds=True).ascii_members == b"XYZxyz"
    assert of(PERL_CLASSES["s"]).ascii_members == b"\t\x0b\x0c "


def test_an_unknown_property_is_refused() -> None:
    with pytest.raises(InvalidRegex):
        _ = of(ClassItem.from_property("Nope", negated=False)).ranges


def test_nothing_matches_nothing() -> None:
    assert compile_linear(NO_CHARACTER).search("aé\n".encode()) is None


def test_escaped_characters_stand_for_themselves() -> None:
    for character in map(chr, [*range(1, 128), 0xE9, 0x65E5, 0x1F600]):
        for expression in (escape(character), f"[{escape(character)}]"):
            found = compile_linear(expression, crosses_lines=True).search(character.encode())
            matches = (re.fullmatch(expression, character) is not None, found and found.group())
            assert matches == (True, character.encode()), expression


def test_spelled_ranges() -> None:
    assert format_ranges(((0x41, 0x41), (0x61, 0x7A))) == r"\x{41}\x{61}-\x{7A}"


def settled() -> list[str]:
    """Characters that are in Unicode for so long that the tables of all programs agree about them."""
    codes = (*range(1, 0xD800), *range(0xE000, 0x10000))
    # The last two got a capital letter late.
    return [
        chr(code) for code in codes if ucd_3_2_0.category(chr(code)) != "Cn" and chr(code) not in "\r\n\u019b\u0264"
    ]


@pytest.mark.parametrize(
    "character_class",
    [
        *(of(item) for item in PERL_CLASSES.values()),
        of(PERL_CLASSES["W"], ClassItem.from_character("_"), negated=True),
        of(PERL_CLASSES["W"], PERL_CLASSES["d"]),
        of(ClassItem.from_property("L", negated=False)),
        of(ClassItem.from_property("Lu", negated=False), folds=True),
        of(ClassItem.from_property("Lu", negated=True), folds=True),
        of(ClassItem.from_posix("[:alpha:]"), folds=True),
        of(ClassItem.from_range("a", "z"), negated=True, folds=True),
        of(ClassItem.from_range("é", "ω"), folds=True),
    ],
    ids=lambda character_class: character_class.ripgrep,
)
def test_ripgrep_and_pcre_see_the_same(tmp_path: Path, character_class: CharacterClass) -> None:
    program = find_ripgrep()
    assert program is not None
    characters = settled()
    text = tmp_path / "characters"
    text.write_bytes("".join(character + "\n" for character in characters).encode())
    case = "(?i)" if character_class.ignores_case else ""
    ranges = character_class.ranges
    ours = [character for character in characters if holds(ranges, character)]
    for engine, spelling in (("--engine=default", character_class.ripgrep), ("--pcre2", character_class.pcre)):
        command = [program, "--no-config", "-a", "-N", engine, "-e", f"^{case}{spelling}$", os.fspath(text)]
        printed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        assert printed.split("\n")[:-1] == ours


def test_word_is_what_boundaries_are_between() -> None:
    assert holds(WORD.ranges, "é")
