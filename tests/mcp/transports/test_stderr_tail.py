"""The last lines of an output, however it is cut."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tejat.mcp.transports.stderr_tail import StderrTail, printable_line


def last_words(*pieces: bytes) -> tuple[str, ...]:
    words = StderrTail()
    for piece in pieces:
        words.add(piece)
    return words.lines


def test_whole_and_unfinished_lines() -> None:
    assert last_words() == ()
    assert last_words(b"") == ()
    assert last_words(b"a\nb\n") == ("a", "b")
    assert last_words(b"a\n\n \r\nb") == ("a", "b")
    assert last_words(b"a", b"b\nc", b"\n", b"d") == ("ab", "c", "d")


def test_only_the_last_twenty() -> None:
    numbers = [str(number) for number in range(100)]
    assert last_words("\n".join(numbers).encode()) == tuple(numbers[-20:])
    assert last_words(*(f"{number}\n".encode() for number in numbers)) == tuple(numbers[-20:])


def test_long_lines_are_cut() -> None:
    assert last_words(b"x" * 300 + b"\n" + b"y" * 301) == ("x" * 300, "y" * 300 + "...")
    assert last_words(*[b"z" * 1000] * 50, b"\nend") == ("z" * 300 + "...", "end")


def test_fit_to_be_shown() -> None:
    line = b"\x1b]0;title\x07\x1b[1;31merror\x1b[0m: 10%\r20%\xff"
    assert last_words(line) == ("20%\ufffdr: 10%",)
    assert printable_line(" a\u202eb\x00 ") == "a<U+202E>b"


@given(st.lists(st.sampled_from(["a", "b c", "\u00e9"]), max_size=60), st.integers(1, 70))
def test_how_it_is_cut_makes_no_difference(lines: list[str], size: int) -> None:
    whole = "\n".join(lines).encode()
    assert last_words(*(whole[at : at + size] for at in range(0, len(whole), size))) == tuple(lines[-20:])


def test_a_flood_is_quick() -> None:
    words, piece = StderrTail(), b"x\n" * 32_768
    began = time.process_time()
    for _ in range(3000):
        words.add(piece)
    assert time.process_time() - began < 10
    assert words.lines == ("x",) * 20
