"""Live output of running calls: a limited rate of updates, and the data that a terminal appends."""

import asyncio
from collections.abc import Callable

from tejat.ui.acp.updates.content_blocks import keep_tail

_INTERVAL_SECONDS = 0.1
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_MIN_ANCHOR, _MAX_ANCHOR = 64, 1024
"""Characters at the end of the output by which its place in a later output is found."""


class Throttle:
    """Sends the latest text, at most ten times a second. The last one is sent when its time has come, or by `flush`."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._waiting: str | None = None
        self._timer: asyncio.TimerHandle | None = None

    def put(self, text: str) -> None:
        """Send a text now or later, instead of one that still waits."""
        self._waiting = text
        if self._timer is None:
            self._send_waiting()

    def flush(self) -> None:
        """Send the text that waits, if any, and no more on time."""
        text = self._waiting
        self.close()
        if text is not None:
            self._send(text)

    def close(self) -> None:
        """Drop the text that waits."""
        self._waiting = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send_waiting(self) -> None:
        text, self._waiting, self._timer = self._waiting, None, None
        if text is not None:
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL_SECONDS, self._send_waiting)
            self._send(text)


class TerminalData:
    """Output so far as data for a terminal, which only appends."""

    def __init__(self) -> None:
        self.shown = ""

    def advance(self, output: str) -> str:
        """Return the data that turns what is shown into `output`, the whole output or its end."""
        before, self.shown = self.shown, output
        if output.startswith(before):
            return keep_tail(output[len(before) :])
        anchor = before[-_MAX_ANCHOR:]
        place = output.find(anchor) if len(anchor) >= _MIN_ANCHOR else -1
        if place >= 0:  # the beginning was dropped
            return keep_tail(output[place + len(anchor) :])
        return _CLEAR + keep_tail(output)  # a line was overwritten
