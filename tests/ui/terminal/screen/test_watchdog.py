"""The watchdog beside a program that holds the terminal."""

import os
import termios
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tejat.ui.terminal.screen.watchdog import Watchdog

RESTORED = b"\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?1004l\x1b[?25h\x1b[J"


class Line:
    """A terminal line that was found in one state and has been put in another."""

    def __init__(self) -> None:
        self.controller, self.line = os.openpty()
        os.set_blocking(self.controller, False)
        self.found = termios.tcgetattr(self.line)
        ours = termios.tcgetattr(self.line)
        ours[3] &= ~(termios.ICANON | termios.ECHO)
        ours[6][termios.VMIN] = 3
        termios.tcsetattr(self.line, termios.TCSANOW, ours)
        self.dog = Watchdog()
        self.dog.start((self.line, self.line), self.found)

    @property
    def modes(self) -> list[int | list[bytes | int]]:
        return termios.tcgetattr(self.line)

    def written(self) -> bytes:
        try:
            return os.read(self.controller, 1000)
        except BlockingIOError:
            return b""

    def die(self) -> None:
        """As when the process is gone: nothing is said any more."""
        process = self.dog._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        process.wait(10)
        self.dog._process = None

    def close(self) -> None:
        self.dog.stop()
        os.close(self.line)
        os.close(self.controller)


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


def test_a_death_is_cleared_up_after(line: Line) -> None:
    time.sleep(0.1)  # until it has looked at the modes
    line.die()
    assert line.modes == line.found
    assert line.written() == RESTORED + b"\r\r\n"


def test_an_end_in_order_changes_nothing(line: Line) -> None:
    before = line.modes
    line.dog.stop()
    assert line.modes == before
    assert line.written() == b""


def test_while_another_program_has_the_terminal_it_is_left_alone(line: Line) -> None:
    line.dog.set_owner(is_ours=False)
    before = line.modes
    line.die()
    assert (line.modes, line.written()) == (before, b"")


def test_a_terminal_taken_again_is_watched_again(line: Line) -> None:
    line.dog.set_owner(is_ours=False)
    line.dog.set_owner(is_ours=True)
    line.die()
    assert line.modes == line.found


def test_the_modes_of_somebody_who_was_quicker_stay(line: Line) -> None:
    time.sleep(0.1)
    theirs: list[Any] = line.modes
    theirs[3] |= termios.ECHO
    termios.tcsetattr(line.line, termios.TCSANOW, theirs)
    line.die()
    assert line.modes == theirs
    assert line.written() == RESTORED
