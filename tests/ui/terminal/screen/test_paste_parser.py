"""A paste is one key, however it is cut, and however long it is. Focus reports are no keys."""

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.key_binding import KeyPress

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


def test_five_megabytes_take_no_time() -> None:
    text = "0123456789abcde\n" * 320_000
    stream = f"\x1b[200~{text}\x1b[201~"
    pieces = [stream[at : at + 1024] for at in range(0, len(stream), 1024)]
    begun = time.process_time()
    assert keys(pieces) == [("<bracketed-paste>", text)]
    assert time.process_time() - begun < 1.0
