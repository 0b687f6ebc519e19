"""What a terminal would show: codes dropped, overwritten text overwritten, in linear time, whatever comes."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.text.terminal_text import TerminalOutputFilter, render_terminal_text

PIECES = st.sampled_from(
    [
        *(
            "a",
            "bc",
            "é",
            "日本",
            " ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\x08",
            "\x07",
            "\x00",
            "\x7f",
            "\x0b",
            "\x0c",
            "\x85",
        ),
        *("\x1b", "\x1b[", "\x1b[31m", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[5G", "\x1b[3C", "\x1b[2D", "\x1b[A"),
        *(
            "\x1b[99999999999G",
            "\x1b]0;t\x07",
            "\x1b]8;;u\x1b\\",
            "\x1b]",
            "\x1bP",
            "\x1bPq\n~\x1b\\",
            "\x1b(B",
            "\x1b c",
        ),
        *("\x9b1m", "\x9d", "\x90", "\x9c", "K", "G", "5", ";", "\ud800", "\udfff"),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("", ""),
        ("plain\ttext\nnaïve 日本 😀\n", "plain\ttext\nnaïve 日本 😀\n"),
        ("\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m", "red rgb"),
        ("\x1b[?25l\x1b[>4;2mx\x1b[ q", "x"),
        ("\x9b31mred\x9bm", "red"),
        ("\x1b]0;title\x07hi", "hi"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x9chi", "hi"),
        ("\x1bPq#0\n~\n\x1b\\picture", "picture"),
        ("\x1b_Gf=100;AAAA\x1b\\x\x1b^pm\x1b\\y\x1bXsos\x1b\\z", "xyz"),
        ("\x1b(B\x1b)0\x1b=\x1b>\x1b7x\x1b8\x1bc", "x"),
        ("a\x00b\x07c\x7fd\x0ee\x0f", "abcde"),
        ("one\x0btwo\x0cthree\x85four", "one\ntwo\nthree\nfour"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("old mac\r\r\nx", "old mac\nx"),
        ("abc\rX", "Xbc"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("fetching 10\r\x1b[Kdone\n", "done\n"),
        ("fetching\x1b[2K\rdone\n", "done\n"),
        ("abc\x1b[2Kd", "   d"),
        ("man\x08\x08\x08man\x08n\n", "man\n"),
        ("b\x08bo\x08ol\x08ld\x08d", "bold"),
        ("\x08\x08x", "x"),
        ("a\x1b[5Gb", "a   b"),
        ("abcdef\x1b[3GX\x1b[1GY", "YbXdef"),
        ("abc\x1b[2DX", "aXc"),
        ("a\x1b[2Cb", "a  b"),
        ("abc\x1b[9D!", "!bc"),
        ("a\x1b[0GX", "X"),
        ("abc\x1b[1K!", "abc!"),
        ("up\n\x1b[1A\x1b[5Bdown", "up\ndown"),
        ("cut short \x1b", "cut short "),
        ("cut short \x1b[", "cut short "),
        ("cut short \x1b[38;5", "cut short "),
        ("\x1b]0;no end\nstill there\n", "0;no end\nstill there\n"),
        ("\x1bPno end", "no end"),
        ("tab\tbed\rX", "Xab\tbed"),
    ],
)
def test_what_is_shown(printed: str, shown: str) -> None:
    assert render_terminal_text(printed) == shown


def test_no_code_buys_more_than_a_line_of_blanks() -> None:
    assert render_terminal_text("\x1b[999999999999G|") == " " * 200 + "|"
    assert render_terminal_text("\x1b[999C" * 50 + "|") == " " * 200 + "|"
    assert render_terminal_text("x" * 1000 + "\x1b[2K|") == " " * 200 + "|"
    assert render_terminal_text("x" * 1000 + "\r\x1b[600G|") == "x" * 599 + "|" + "x" * 400


@settings(max_examples=400)
@given(TEXTS)
def test_nothing_that_a_terminal_obeys_is_left_and_once_is_enough(text: str) -> None:
    shown = render_terminal_text(text)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown) is None
    assert render_terminal_text(shown) == shown


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_lines_do_not_know_of_each_other(one: str, other: str) -> None:
    one, other = (re.sub("\x1b[PX^_]|[\x90\x98\x9e\x9f\x0b\x0c\x85\n]", "", text) for text in (one, other))
    assert render_terminal_text(f"{one}\n{other}") == f"{render_terminal_text(one)}\n{render_terminal_text(other)}"


@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\n\t")))
def test_plain_text_is_left_alone(text: str) -> None:
    assert render_terminal_text(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "\x1b]",
            "\x1bP",
            "\x1b[",
            "\x1b",
            "\x1b ",
            "\x9d",
            "\x90",
            "\x9b",
            "\r",
            "a\r",
            "x\x08",
            "\x1b[2Kx",
            "\x1b]\x9d",
        ),
        *("\x1bPa", "\x1b[200Gx\x1b[2K", "\x1b[9C", "\r\n", "\x1b]a\n", "\x0b", "\x1b[1", "\x1b[;"),
    ],
)
def test_ten_times_the_text_takes_about_ten_times_as_long(piece: str) -> None:
    def seconds(count: int) -> float:
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            render_terminal_text("x" * count + piece * count + "y")
            best = min(best, time.process_time() - began)
        return best

    assert seconds(10_000) < 40 * seconds(1_000) + 0.05


def filtered(*chunks: bytes) -> bytes:
    """Chunks after the filter, all of them."""
    output = TerminalOutputFilter()
    return b"".join([*map(output.feed, chunks), output.finish()])


class TestTerminalOutputFilter:
    @pytest.mark.parametrize(
        ("printed", "passed"),
        [
            ("", ""),
            ("plain\ttext\nnaïve 日本 😀\n", "plain\ttext\nnaïve 日本 😀\n"),
            ("\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m", "\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m"),
            ("10%\r50%\r\x1b[K100%\n", "10%\r50%\r\x1b[K100%\n"),
            ("ab\x08\x08c\x1b[3G", "ab\x08\x08c\x1b[3G"),
            ("\x9b31mred", "\x1b[31mred"),
            ("dos\r\nlines\x0bx\x0cy", "dos\r\nlines\nx\ny"),
            ("clipboard\x1b]52;c;cm0gLXJmIH4=\x07!", "clipboard!"),
            ("title\x1b]0;t\x1b\\!", "title!"),
            ("questions\x1b[c\x1b[6n\x1b[?1$p\x1bZ\x1b[>q\x05!", "questions!"),
            ("screens\x1b[?1049h\x1b[2J\x1b[H\x1bc!", "screens!"),
            ("keys\x1b[?1000h\x1b[>4;2m\x1b[?2004h!", "keys!"),
            ("picture\x1bPq#0~\x1b\\\x1b_Gf=100;AAAA\x1b\\!", "picture!"),
            ("bell\x07\x00\x7f!", "bell!"),
            ("cut short \x1b[38;5", "cut short "),
        ],
    )
    def test_what_passes(self, printed: str, passed: str) -> None:
        assert filtered(printed.encode()) == passed.encode()

    def test_bytes_that_are_not_text(self) -> None:
        assert filtered(b"caf\xe9\n") == "caf\ufffd\n".encode()
        assert filtered(b"\xe6\x97", b"\xa5") == "日".encode()
        assert filtered(b"\xe6\x97") == "\ufffd".encode()

    @settings(max_examples=400)
    @given(TEXTS, st.lists(st.integers(0, 200), max_size=6))
    def test_no_other_sequence_passes_wherever_the_chunks_end(self, text: str, ends: list[int]) -> None:
        raw = text.encode("utf-8", "replace")
        cuts = [0, *sorted(ends), len(raw)]
        passed = filtered(*(raw[start:end] for start, end in pairwise(cuts)))
        assert passed == filtered(raw)
        assert re.search("[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]", KEPT.sub("", passed.decode())) is None
        assert filtered(passed) == passed

    def test_a_sequence_without_end_is_not_held_forever(self) -> None:
        output = TerminalOutputFilter()
        assert output.feed(b"\x1b]0;" + b"x" * 500) == b""
        assert output.feed(b"y" * 2000) == b"0;" + b"x" * 500 + b"y" * 2000

    def test_it_is_fast(self) -> None:
        for piece in (b"\x1b", b"\x1b]", b"\x1b[", b"\x1bP", b"\x1b[31m", b"\r", b"x"):
            began = time.monotonic()
            filtered(*[piece * 20_000] * 20)
            assert time.monotonic() - began < 5, piece


KEPT = re.compile("\x1b\\[[0-9;:]*[CDGKm]")
