"""The languages that nobody speaks keep what translators keep."""

import gettext
import io

import pytest
from wcwidth import wcswidth

from support.terminal.pseudo_locale import (
    VARIANTS,
    accented,
    compile_catalogue,
    find_english,
    pseudo_catalogue,
    pseudo_translate,
    right_to_left,
    wide,
)


def test_what_is_kept() -> None:
    text = "  Use `tejat undo` or --last {count:,} with /undo, [y]es; {{GEMINI_API_KEY}} %(prog)s\n\n  - {a!r}: now"
    seen = pseudo_translate(text, wide)
    assert seen.split("\n") == [
        "  Ｕｓｅ `tejat undo` ｏｒ --last {count:,} ｗｉｔｈ /undo, [y]ｅｓ; {{GEMINI_API_KEY}} %(prog)s",
        "",
        "  - {a!r}: ｎｏｗ",
    ]


def test_the_kinds_of_letters() -> None:
    assert len(accented("Nothing to undo.")) == len("Nothing to undo.") + 6
    assert wcswidth(wide("undo")) == 8
    assert all("\u0590" <= letter <= "\u05ff" for letter in right_to_left("undo"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_english_is_left_in_any_message(variant: str) -> None:
    catalogue = gettext.GNUTranslations(io.BytesIO(pseudo_catalogue(variant)))
    assert find_english(catalogue.gettext("options")) == []
    assert find_english(catalogue.gettext("expected one argument")) == []


def test_a_catalogue_of_ours_is_one_of_gettext() -> None:
    catalogue = gettext.GNUTranslations(
        io.BytesIO(
            compile_catalogue({"": "Content-Type: text/plain; charset=UTF-8\n", "é": "ü", "a": "b", "1\0n": "one\0two"})
        )
    )
    assert [catalogue.gettext("é"), catalogue.gettext("a"), catalogue.gettext("?")] == ["ü", "b", "?"]
    assert [catalogue.ngettext("1", "n", count) for count in (1, 2)] == ["one", "two"]


def test_english_that_is_left() -> None:
    text = "ĥéllô world of gemini-2.5-pro ａｂｃ (notes.txt) x_abc"
    assert find_english(text, {"gemini-2.5-pro", "notes.txt"}) == ["world", "abc"]
