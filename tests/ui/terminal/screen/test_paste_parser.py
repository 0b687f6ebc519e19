"""A paste is one key, however it is cut, and however long it is. Reports of the terminal are no keys."""

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.output import DummyOutput

from tejat.ui.terminal.background import BackgroundQuery
from tejat.ui.terminal.screen.paste_parser import PasteParser

STREAM = "a\x1b[200~one\r\ntwo \x1b[20 \x1b[201\x1b[201~b\x1b[A\x1b[200~\x1b[201~c"


def keys(pieces: list[str]) -> list[tuple[str, str]]:
    pressed: list[KeyPress] = []
    parser = PasteParser(pressed.append)
    for piece in pieces:
        parser.feed(piece)
    parser.flush()
    return [(str(press.key.value if hasattr(press.key, "value") else press.key), press.data) for press in pressed]  # pyright: ignore[reportAttributeAccessIssue]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_where_it_is_cut_makes_no_difference(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(places)]
    assert keys(pieces) == [
        ("a", "a"),
        ("<bracketed-paste>", "one\r\ntwo \x1b[20 \x1b[201"),
        ("b", "b"),
        ("up", "\x1b[A"),
        ("<bracketed-paste>", ""),
        ("c", "c"),
    ]


FOCUS_STREAM = "a\x1b[Ob\x1b\x1b[Ic\x1b[200~one \x1b[Otwo\x1b[201~\x1b[I\x1b[I\x1b[A"


@given(st.lists(st.integers(0, len(FOCUS_STREAM)), max_size=12))
def test_focus_reports_are_no_keys_and_end_no_paste(cuts: list[int]) -> None:
    pressed: list[KeyPress] = []
    reported: list[bool] = []
    parser = PasteParser(pressed.append, reported.append)
    for start, end in pairwise([0, *sorted(cuts), len(FOCUS_STREAM)]):
        parser.feed(FOCUS_STREAM[start:end])
    assert [press.data for press in pressed] == ["a", "b", "\x1b", "c", "one two", "\x1b[A"]
    assert reported == [False, True, False, True, True]


def asked_background(answers: list[bool]) -> BackgroundQuery:
    query = BackgroundQuery(DummyOutput())
    query.ask(answers.append)
    return query


BACKGROUND_STREAM = "a\x1b[Ab\x1b]11;rgb:ffff/ffff/ffff{end}c\x1b[200~one\x1b[201~\x1b]d"


@given(st.lists(st.integers(0, len(BACKGROUND_STREAM)), max_size=12), st.sampled_from(["\x07", "\x1b\\"]))
def test_an_answer_about_the_background_is_no_key(cuts: list[int], end: str) -> None:
    stream = BACKGROUND_STREAM.format(end=end)
    pressed: list[KeyPress] = []
    answers: list[bool] = []
    parser = PasteParser(pressed.append, background=asked_background(answers))
    for start, stop in pairwise([0, *sorted(cuts), len(stream)]):
        parser.feed(stream[start:stop])
    assert [press.data for press in pressed] == ["a", "\x1b[A", "b", "c", "one", "\x1b", "]", "d"]
    assert answers == [False]


def test_alt_and_a_bracket_are_keys_while_an_answer_is_awaited() -> None:
    pressed: list[KeyPress] = []
    parser = PasteParser(pressed.append, background=asked_background([]))
    parser.feed("\x1b]")
    parser.flush()
    parser.feed("x")
    parser.feed("\x1b")
    parser.flush()
    assert [press.data for press in pressed] == ["\x1b", "]", "x", "\x1b"]


def test_half_an_answer_waits_for_the_other_half_but_not_for_ever() -> None:
    pressed: list[KeyPress] = []
    answers: list[bool] = []
    parser = PasteParser(pressed.append, background=asked_background(answers))
    parser.feed("\x1b]11;rgb:0000/00")
    parser.flush()
    parser.feed("00/0000\x1b\\")
    assert (pressed, answers) == ([], [True])
    parser = PasteParser(pressed.append, background=asked_background(answers))
    parser.feed("\x1b]11;" + "x" * 80)
    assert len(pressed) > 80


def test_five_megabytes_take_no_time() -> None:
    text = "0123456789abcde\n" * 320_000
    stream = f"\x1b[200~{text}\x1b[201~"
    pieces = [stream[at : at + 1024] for at in range(0, len(stream), 1024)]
    begun = time.process_time()
    assert keys(pieces) == [("<bracketed-paste>", text)]
    assert time.process_time() - begun < 1.0
