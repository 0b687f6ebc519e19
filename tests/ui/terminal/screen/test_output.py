"""Frames, whole and at once."""

import os
import threading
from collections.abc import Iterator
from io import TextIOWrapper

import pytest

from tejat.ui.terminal.screen.output import PositionedText, SynchronizedOutput

BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"


class Terminal:
    def __init__(self) -> None:
        self.controller, line = os.openpty()
        self.file = os.fdopen(line, "w", encoding="utf-8")
        self.gone = 0
        self.output = SynchronizedOutput(self.file, on_disconnect=self.lose)

    def lose(self) -> None:
        self.gone += 1

    def read(self) -> bytes:
        return os.read(self.controller, 65536)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.file.close()
    os.close(made.controller)


def test_making_it_writes_nothing(terminal: Terminal) -> None:
    os.set_blocking(terminal.controller, False)
    terminal.output.show_cursor()
    terminal.output.flush()
    with pytest.raises(BlockingIOError):
        terminal.read()


def test_focus_reports_follow_the_ownership_of_the_terminal(terminal: Terminal) -> None:
    output, focus = terminal.output, terminal.output.focus
    focus.enable(enabled=True)
    output.enable_bracketed_paste()
    output.flush()
    assert terminal.read() == BEGIN + b"\x1b[?2004h\x1b[?1004h" + END
    focus.handle_report(False)
    assert focus.is_focused is False
    output.disable_bracketed_paste()
    output.flush()
    assert terminal.read() == BEGIN + b"\x1b[?2004l\x1b[?1004l" + END
    focus.handle_report(False)  # too late
    assert focus.is_focused is None


def test_focus_reports_can_be_switched_while_drawing(terminal: Terminal) -> None:
    output, focus = terminal.output, terminal.output.focus
    output.enable_bracketed_paste()
    output.flush()
    assert terminal.read() == BEGIN + b"\x1b[?2004h" + END
    focus.handle_report(True)  # nobody has asked
    assert focus.is_focused is None
    for enabled, sequence in ((True, b"\x1b[?1004h"), (False, b"\x1b[?1004l")):
        focus.enable(enabled=enabled)
        focus.enable(enabled=enabled)
        assert terminal.read() == BEGIN + sequence + END
    output.disable_bracketed_paste()
    output.flush()
    assert terminal.read() == BEGIN + b"\x1b[?2004l" + END


def test_what_is_held_goes_out_as_one_frame(terminal: Terminal) -> None:
    with terminal.output.batch():
        terminal.output.write("a")
        terminal.output.flush()
        with terminal.output.batch():
            terminal.output.write_raw("\x1b[J")
        terminal.output.write("b\x1b[2J")
    assert terminal.read() == BEGIN + b"a\x1b[Jb?[2J" + END


def test_looks_are_written_only_where_they_change(terminal: Terminal) -> None:
    for _ in range(3):
        terminal.output.reset_attributes()
    terminal.output.write("x")
    terminal.output.reset_attributes()
    terminal.output.flush()
    assert terminal.read() == BEGIN + b"\x1b[0mx" + END


def test_erasing_never_looks_like_clearing_the_whole_screen(terminal: Terminal) -> None:
    """tmux keeps what is erased from the first cell on in its history."""
    terminal.output.erase_down()
    terminal.output.flush()
    assert terminal.read() == BEGIN + b" \x1b[J\b" + END


def test_a_disputed_grapheme_is_followed_by_the_way_to_its_end(terminal: Terminal) -> None:
    terminal.output.write(PositionedText("👩‍👧", 4))
    terminal.output.flush()
    assert terminal.read() == BEGIN + "👩‍👧".encode() + b"\x1b[5G" + END


def test_it_blinks_as_before_and_asks_nothing(terminal: Terminal) -> None:
    terminal.output.hide_cursor()
    terminal.output.show_cursor()
    terminal.output.bell()
    terminal.output.flush()
    assert terminal.read() == BEGIN + b"\x1b[?25l\x1b[?25h" + END
    assert not terminal.output.responds_to_cpr


def test_a_slow_terminal_gets_all_of_it(terminal: Terminal) -> None:
    os.set_blocking(terminal.file.fileno(), False)
    text = "0123456789" * 50_000
    got: list[bytes] = []

    def read_slowly() -> None:
        while not b"".join(got[-2:]).endswith(END):
            got.append(terminal.read())

    reader = threading.Thread(target=read_slowly)
    reader.start()
    terminal.output.write(text)
    terminal.output.flush()
    reader.join(30)
    assert b"".join(got) == BEGIN + text.encode() + END


def test_a_terminal_that_is_gone_is_told_once() -> None:
    terminal = Terminal()
    os.close(terminal.controller)
    for _ in range(3):
        terminal.output.write("a")
        terminal.output.flush()
    assert (terminal.gone, terminal.output.is_disconnected) == (1, True)
    terminal.file.close()


def test_ascii_keeps_what_it_cannot_write_readable(terminal: Terminal) -> None:
    terminal.output.is_ascii = True
    terminal.output.write_raw("é日")
    terminal.output.flush()
    assert terminal.read() == BEGIN + b"\\xe9\\u65e5" + END


def test_lone_surrogates_do_no_harm(terminal: Terminal) -> None:
    terminal.output.write("a\udc80b")
    terminal.output.flush()
    assert terminal.read() == BEGIN + b"a?b" + END


def test_no_terminal_has_the_usual_size() -> None:
    reads, writes = os.pipe()
    with open(writes, "w", encoding="utf-8") as file, open(reads, "rb"):
        assert isinstance(file, TextIOWrapper)
        assert tuple(SynchronizedOutput(file, on_disconnect=lambda: None).get_size()) == (24, 80)
