"""The background colour of the terminal: what to ask (OSC 11), whom, and what the answer means."""

import fcntl
import os
import re
import select
import termios
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache

BACKGROUND_QUERY = "\x1b]11;?\x1b\\"

# Every terminal answers the question what it is, also one that does not know the other question.
_QUERIES = f"{BACKGROUND_QUERY}\x1b[c".encode()
_ANSWER = rb"\x1b\]11;(?P<colour>[^\x07\x1b]{0,64})(?:\x07|\x1b\\)"
_LAST_ANSWER = rb"\x1b\[\?[0-9;]*c"
_WAIT_SECONDS = 0.5
_DARK_LUMINANCE = 0.18
"""Below this luminance white text has more contrast than black."""
# Consoles that print what they do not understand, and GNU screen, which does not pass the question on.
_SILENT_TERMINALS = ("dumb", "unknown", "linux", "eterm", "vt", "cons", "ansi", "sun", "screen")


def may_ask_background(environment: Mapping[str, str]) -> bool:
    """Whether the terminal understands the question, and no variable has answered it."""
    terminal = environment.get("TERM", "")
    if environment.get("COLORFGBG") or not terminal or environment.get("NO_COLOR"):
        return False
    return not terminal.startswith(_SILENT_TERMINALS) or bool(environment.get("TMUX"))


def is_dark_report(colour: str) -> bool | None:
    """Return whether a colour such as `rgb:1e1e/1e1e/2e2e` or `#1e1e2e` is dark, None if it is no colour."""
    parts = re.fullmatch(r"rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})(?:/[0-9a-f]{1,4})?", colour, re.I)
    parts = parts or re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", colour, re.I)
    if parts is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in parts.groups())
    return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < _DARK_LUMINANCE


@lru_cache(1)
def read_background() -> bool | None:
    """Ask the terminal once and wait for the answer: True for a dark background, None if it is unknown.

    For commands that print and end. Nobody is asked in the background or while typed keys wait to be read.
    """
    with suppress(OSError, termios.error), _open_terminal() as terminal:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return None
        with _unechoed(terminal):
            if int.from_bytes(fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)), "little"):
                return None
            os.write(terminal, _QUERIES)
            answer = re.search(_ANSWER, _read_answers(terminal))
            return None if answer is None else is_dark_report(answer["colour"].decode("ascii", "replace"))
    return None


def _read_answers(terminal: int) -> bytes:
    received = b""
    deadline = time.monotonic() + _WAIT_SECONDS
    while not re.search(_LAST_ANSWER, received):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            break
        received += os.read(terminal, 1024)
    return received


@contextmanager
def _open_terminal() -> Generator[int]:
    terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        yield terminal
    finally:
        os.close(terminal)


@contextmanager
def _unechoed(terminal: int) -> Generator[None]:
    """Read keys one by one and do not print them."""
    before = termios.tcgetattr(terminal)
    changed = [*before]
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSANOW, changed)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
