"""Pastes are folded, shown by their size, and given back to the letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.editor.pastes import PasteStore

MARK = "\U0010f000"
LONG = "line\n" * 20


@pytest.mark.parametrize(
    ("pasted", "taken"),
    [
        ("one line", "one line"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("\n" * 9, "\n" * 9),
        ("x" * 1000, "x" * 1000),
    ],
)
def test_short_ones_stay_as_they_are(pasted: str, taken: str) -> None:
    assert PasteStore().insert_paste(pasted) == taken


@pytest.mark.parametrize(
    ("pasted", "label"),
    [
        ("\n" * 10, "[Pasted #1: 10 lines]"),
        ("\r\n".join("abcdefghijk"), "[Pasted #1: 11 lines]"),
        ("x" * 1001, "[Pasted #1: 1,001 characters]"),
        ("x" * 1001 + "\n", "[Pasted #1: 1,002 characters]"),
        (f"has {MARK}", "[Pasted #1: 5 characters]"),
    ],
)
def test_long_ones_are_one_letter(pasted: str, label: str) -> None:
    pastes = PasteStore()
    mark = pastes.insert_paste(pasted)
    assert (len(mark), pastes.label(mark)) == (1, label)
    assert pastes.expand(f"a{mark}b") == "a{}b".format(pasted.replace("\r\n", "\n"))


def test_the_same_text_pasted_twice_is_two_pastes() -> None:
    pastes = PasteStore()
    first, second = pastes.insert_paste(LONG), pastes.insert_paste(LONG)
    assert [pastes.label(first), pastes.label(second)] == ["[Pasted #1: 20 lines]", "[Pasted #2: 20 lines]"]
    assert pastes.expand(first + second) == LONG * 2


def test_letters_of_others_are_no_marks() -> None:
    pastes = PasteStore()
    assert (pastes.expand(MARK), pastes.label(MARK), pastes.label("x")) == (MARK, None, None)
    typed = pastes.insert_typed(MARK)
    assert pastes.expand(typed) == MARK


def test_what_was_sent_comes_back_folded() -> None:
    pastes = PasteStore()
    mark = pastes.insert_paste(LONG)
    pastes.prune()
    assert pastes.collapse(f"see {LONG}!") == f"see {mark}!"
    typed = "typed\n" * 30
    assert pastes.collapse(typed) == typed
    assert pastes.label(pastes.collapse("typed\n" * 500)) == "[Pasted #2: 500 lines]"


def test_only_the_newest_are_kept_for_later() -> None:
    pastes = PasteStore()
    marks = [pastes.insert_paste(f"{number}\n" * 20) for number in range(60)]
    pastes.prune()
    assert [pastes.label(mark) is None for mark in marks] == [True] * 10 + [False] * 50


@given(st.lists(st.text(st.sampled_from(f"a\r\n{MARK}\U0010f001"), max_size=30).map(lambda text: text * 8), max_size=5))
def test_everything_is_given_back(texts: list[str]) -> None:
    pastes = PasteStore()
    taken = "".join(pastes.insert_paste(text) for text in texts)
    assert pastes.expand(taken) == "".join(text.replace("\r\n", "\n").replace("\r", "\n") for text in texts)
