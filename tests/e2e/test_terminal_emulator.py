"""The terminal that tests look at: what it shows is what a real one would show."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.terminal.emulator import PLAIN, Style, TerminalEmulator


def shown(*written: str, columns: int = 10, rows: int = 4) -> TerminalEmulator:
    model = TerminalEmulator(columns, rows)
    for text in written:
        model.feed(text.encode())
    return model


class TestText:
    def test_lines(self) -> None:
        model = shown("one\r\ntwo\r\n")
        assert (model.lines(), model.text(), model.cursor) == (["one", "two", "", ""], "one\ntwo", (0, 2))

    def test_a_line_that_is_full_wraps_only_with_the_next_character(self) -> None:
        full = shown("0123456789")
        assert (full.text(), full.cursor) == ("0123456789", (9, 0))
        assert shown("0123456789", "a").text() == "0123456789\na"
        assert shown("0123456789\r\nb").text() == "0123456789\nb"
        assert shown("0123456789\rb").text() == "b123456789"

    def test_without_autowrap_the_last_column_is_overwritten(self) -> None:
        assert shown("\x1b[?7l0123456789ab").text() == "012345678b"

    def test_what_scrolls_off_is_kept(self) -> None:
        model = shown("1\r\n2\r\n3\r\n4\r\n5\r\n6")
        assert (model.text(), model.history()) == ("3\n4\n5\n6", "1\n2\n3\n4\n5\n6")

    def test_bytes_may_come_in_pieces(self) -> None:
        whole = "é日\x1b[31mred\x1b]2;title\x1b\\\x1b[0m👩‍🚀.".encode()
        model = TerminalEmulator(20, 2)
        for byte in whole:
            model.feed(bytes([byte]))
        assert (model.text(), model.titles, model.unknown) == ("é日red👩‍🚀.", ["title"], [])
        assert model.style_of("red") == Style(fg="1")

    def test_backspace_and_tab(self) -> None:
        assert shown("ab\bc\td").text() == "ac      d"


class TestWidths:
    def test_wide_characters_take_two_columns(self) -> None:
        model = shown("日本x")
        assert (model.cursor, model.position_of("x"), model.at(1, 0).width) == ((5, 0), (4, 0), 0)

    def test_a_wide_character_that_does_not_fit_goes_to_the_next_line(self) -> None:
        assert shown("123456789日").text() == "123456789\n日"

    def test_half_of_a_wide_character_is_none(self) -> None:
        assert shown("日本\x1b[2Gx").text() == " x本"
        assert shown("日本\x1b[3Gx").text() == "日x"

    @pytest.mark.parametrize(
        ("text", "width"),
        [("e\u0301", 1), ("👩‍🚀", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤️", 2), ("👨‍👩‍👧‍👦", 2), ("각", 2), ("नि", 2)],
    )
    def test_a_grapheme_is_one_place(self, text: str, width: int) -> None:
        model = shown(text, ".")
        assert (model.at(0, 0).text, model.at(0, 0).width, model.cursor[0]) == (text, width, width + 1)

    def test_a_mark_joins_what_stands_left_of_it(self) -> None:
        assert shown("ab\x1b[2G\u0301").at(0, 0).text == "a\u0301"


class TestMoving:
    def test_relative_and_absolute(self) -> None:
        assert shown("\x1b[2;3Hx").position_of("x") == (2, 1)
        assert shown("\x1b[3;5f\x1b[2A\x1b[3D\x1b[B\x1b[Cx").position_of("x") == (2, 1)
        assert shown("abc\x1b[Gx\x1b[4Gy").text() == "xbcy"

    def test_nothing_leaves_the_screen(self) -> None:
        assert shown("\x1b[99A\x1b[99D").cursor == (0, 0)
        assert shown("\x1b[99B\x1b[99C").cursor == (9, 3)

    def test_save_and_restore(self) -> None:
        model = shown("a\x1b7\x1b[31m\x1b[4;4Hx\x1b8b")
        assert (model.text(), model.style_of("b"), model.style_of("x").fg) == ("ab\n\n\n   x", PLAIN, "1")

    def test_a_region_scrolls_alone(self) -> None:
        model = shown("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx")
        assert (model.text(), model.history()) == ("1\n3\nx\n4", "1\n3\nx\n4")

    def test_reverse_line_feed_at_the_top(self) -> None:
        assert shown("1\r\n2\x1b[H\x1bMx").text() == "x\n1\n2"

    def test_next_line(self) -> None:
        assert shown("ab\x1bEc\x1bDd").text() == "ab\nc\n d"


class TestErasing:
    def test_lines(self) -> None:
        assert shown("abcdef\x1b[3G\x1b[K").text() == "ab"
        assert shown("abcdef\x1b[3G\x1b[1K").text() == "   def"
        assert shown("abcdef\x1b[3G\x1b[2K").text() == ""

    def test_screens(self) -> None:
        full = "1\r\n2\r\n3\r\n4\x1b[2;1H"
        assert shown(full, "\x1b[J").text() == "1"
        assert shown(full, "\x1b[1J").text() == "\n\n3\n4"
        cleared = shown(full, "\x1b[2J\x1b[3J")
        assert (cleared.text(), cleared.full_clears, cleared.cursor) == ("", 2, (0, 1))

    def test_inserting_and_deleting(self) -> None:
        assert shown("abcdef\x1b[2G\x1b[2@").text() == "a  bcdef"
        assert shown("abcdef\x1b[2G\x1b[2P").text() == "adef"
        assert shown("abcdef\x1b[2G\x1b[2X").text() == "a  def"
        assert shown("1\r\n2\r\n3\x1b[2;1H\x1b[L").text() == "1\n\n2\n3"
        assert shown("1\r\n2\r\n3\x1b[1;1H\x1b[M").history() == "2\n3"

    def test_scrolling(self) -> None:
        assert shown("1\r\n2\x1b[S").history() == "1\n2"
        assert shown("1\r\n2\x1b[T").text() == "\n1\n2"

    def test_the_background_fills_what_is_erased(self) -> None:
        assert shown("\x1b[44m\x1b[K").at(9, 0).style == Style(bg="4")


class TestLooks:
    def test_all(self) -> None:
        model = shown("\x1b[1;2;3;4;7;9;38;5;208;48;2;1;2;3mx\x1b[0my", "\x1b[91;1mz\x1b[22mw\x1b[39mv")
        assert model.style_of("x") == Style("208", "#010203", True, True, True, True, False, True, False, True)
        assert [model.style_of(letter) for letter in "yzwv"] == [PLAIN, Style("9", bold=True), Style("9"), PLAIN]


class TestModes:
    def test_what_programs_switch(self) -> None:
        model = shown("\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[5 q")
        assert (model.is_cursor_visible, model.takes_mouse, 2004 in model.modes, model.cursor_shape) == (
            False,
            True,
            True,
            5,
        )

    def test_the_alternate_screen_leaves_the_first_as_it_was(self) -> None:
        model = shown("one\x1b[?1049h\x1b[Htwo\r\n\n\n\n\n\n")
        assert (model.is_alternate, model.scrollback) == (True, [])
        model.feed(b"\x1b[?1049l!")
        assert (model.is_alternate, model.history()) == (False, "one!")

    def test_frames(self) -> None:
        model = shown("out", "\x1b[?2026hin\x1b[?2026l", "\x1b[?2026h")
        assert (model.frames, model.is_in_frame, model.written_outside_of_frames) == (1, True, 3)
        assert model.written == len("outin") + 3 * len("\x1b[?2026h")

    def test_what_is_told_and_asked_is_noted(self) -> None:
        model = shown("\x1b]0;a\x07\x1b]8;;https://x/\x1b\\link\x1b]8;;\x1b\\\x1b]52;c;aGk=\x07\x1b[6n\x1b[c")
        assert model.strings == [("0", "a"), ("8", ";https://x/"), ("8", ";"), ("52", "c;aGk=")]
        assert (model.asked, model.text(), model.unknown) == (["6n", "c"], "link", [])

    def test_what_is_not_known_is_noted(self) -> None:
        assert shown("\x1b[5;6z\x1b[?77h\x1bZ\x1b[55m\x01\x9b").unknown == [
            *("\x1b[5;6z", "\x1b[?77h", "\x1bZ", "\x1b[55m", "\x01", "\x9b")
        ]


class TestSizes:
    def test_smaller_and_larger(self) -> None:
        model = shown("0123456789\r\n2\r\n3\r\n4")
        model.resize(5, 2)
        assert (model.text(), model.history(), model.cursor) == ("3\n4", "01234\n2\n3\n4", (1, 1))
        model.resize(12, 6)
        model.feed(b"\x1b[6;12Hx")
        assert model.lines() == ["3", "4", "", "", "", "           x"]

    def test_empty_rows_go_first(self) -> None:
        model = shown("1\r\n2")
        model.resize(10, 2)
        assert (model.text(), model.scrollback) == ("1\n2", [])


PIECES = [
    *("\r\n", "\r\n", "\r\n", "\r", "\n", "\rab\b", "\t", "\x1b[K", "\x1b[J", "\x1b[1K", "\x1b[2K"),
    *("\x1b[C\x1b[D\x1b[1J", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3B", "\x1b[C", "\x1b[7C", "\x1b[D", "\x1b[5D"),
    *("\x1b[G", "\x1b[12G", "\x1b[H", "\x1b[3;4H", "\x1b[9;39H", "\x1b[L", "\x1b[2M", "\x1b[3@", "\x1b[2P"),
    *("\x1b[4X", "\x1b[2;6r", "\x1b[r", "\r\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8", "\x1b[?7l", "\x1b[?7h"),
    *("\x1b[S", "\x1b[T", "\x1b[1;31m", "\x1b[0m", "\x1b[?25l", "\x1b[?2004h", "\x1b[38;5;9m", "hello"),
    *("some words here ", "x" * 41, "日本語", "ü", "a" * 15, "│ ─ ╭╮", "e\u0301", "한글 ", "."),
]


WIDE = {"日本語", "한글 "}
# What terminals do in different ways: the second goes where the first is.
APART = {
    "\x1b[?7l": WIDE,  # a wide character in the last column
    "\x1b[C\x1b[D\x1b[1J": WIDE,  # half of a wide character erased
    "\x1b[1K": WIDE,
    "\x1b[5D": WIDE,  # half of a wide character overwritten
    "\x1b[2;6r": {"\x1b[L", "\x1b[2M"},  # lines moved outside of the region
}


def written_at_random(seed: int) -> list[str]:
    pieces = random.Random(seed).choices(PIECES, k=40)
    gone = set().union(*(gone for first, gone in APART.items() if first in pieces))
    return [piece for piece in pieces if piece not in gone]


class Tmux:
    """A real terminal multiplexer that is fed, and says what it shows."""

    def __init__(self, directory: Path, columns: int, rows: int) -> None:
        self._socket = directory / "tmux"
        self._pipe = directory / "pipe"
        os.mkfifo(self._pipe)
        settings = directory / "tmux.conf"
        settings.write_text("set -g status off\nset -g default-terminal screen-256color\nset -g history-limit 1000\n")
        self.run("-f", settings, "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c", self._reader())
        self._feed = os.open(self._pipe, os.O_WRONLY)
        self._count = 0

    def _reader(self) -> str:
        return f"stty raw -echo; exec cat '{self._pipe}'"

    def run(self, *words: str | Path) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *words], capture_output=True, text=True, timeout=20, check=True
        )
        return done.stdout

    def show(self, text: str) -> tuple[list[str], tuple[int, int]]:
        """Start anew, write this, and say what the rows show and where the cursor is."""
        self._count += 1
        os.write(self._feed, f"\x1bc{text}\x1b]2;fed {self._count}\x07".encode())
        deadline = time.monotonic() + 60
        while not (told := self._pane_state()).startswith(f"fed {self._count}|"):
            assert time.monotonic() < deadline
        rows = self.run("capture-pane", "-p").split("\n")[:-1]
        column, row = told.partition("|")[2].split()
        return [row.rstrip(" ") for row in rows], (int(column), int(row))

    def _pane_state(self) -> str:
        return self.run("display-message", "-p", "#{pane_title}|#{cursor_x} #{cursor_y}").rstrip("\n")

    def close(self) -> None:
        self.run("kill-server")
        os.close(self._feed)


@pytest.fixture
def tmux(tmp_path: Path) -> Generator[Tmux]:
    if not shutil.which("tmux"):
        pytest.skip("there is no tmux here to compare with")
    real = Tmux(tmp_path, 40, 10)
    yield real
    real.close()


def test_a_real_terminal_shows_the_same(tmux: Tmux) -> None:
    """Random writings of the kind that terminal libraries make."""
    for seed in range(150):
        pieces = written_at_random(seed)
        model = shown(*pieces, columns=40, rows=10)
        rows, cursor = tmux.show("".join(pieces))
        # tmux tells a full line's cursor as one column further.
        assert (model.lines(), model.cursor) == (rows, (min(cursor[0], 39), cursor[1])), (seed, pieces)
        assert model.unknown == []
