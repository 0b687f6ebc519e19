"""The background of the terminal, asked for with OSC 11 and answered among the keys."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from prompt_toolkit.output import Output

_QUERY = "\x1b]11;?\x1b\\"
_SETTLE_SECONDS = 0.3
"""Time after the question in which the program does not end without the answer, which the shell would get."""
_DARK_LUMINANCE = 0.18
"""Below this luminance white text has more contrast than black."""
# Consoles that print what they do not understand, and GNU screen, which does not pass the question on.
_SILENT_TERMINALS = ("dumb", "unknown", "linux", "eterm", "vt", "cons", "ansi", "sun", "screen")


class BackgroundQuery:
    """Asks once. A terminal that never answers costs nothing, and its answer is never taken for keys."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._on_answer: Callable[[bool], None] = lambda _: None
        self._asked: float | None = None
        self._answered = asyncio.Event()

    @property
    def is_pending(self) -> bool:
        """Whether an answer may still come."""
        return self._asked is not None and not self._answered.is_set()

    def ask(self, on_answer: Callable[[bool], None]) -> None:
        """Ask, unless that was done already; `on_answer` is called with True for a dark background."""
        self._on_answer = on_answer
        if self._asked is None:
            self._asked = time.monotonic()
            self._output.write_raw(_QUERY)
            self._output.flush()

    def handle_report(self, colour: str) -> None:
        """Take the answer of the terminal. One that is no colour changes nothing."""
        self._answered.set()
        is_dark = is_dark_report(colour)
        if is_dark is not None:
            self._on_answer(is_dark)

    async def settle(self) -> None:
        """Wait a moment for an answer that is still on its way."""
        if self.is_pending and self._asked is not None:
            left = self._asked + _SETTLE_SECONDS - time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), left)


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
