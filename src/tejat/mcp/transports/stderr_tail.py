"""The last lines of a program's output."""

from collections import deque

from tejat.core.sanitize import sanitize_text
from tejat.workspace.text.terminal_text import render_terminal_text

_MAX_LINES = 20
_MAX_LINE_CHARACTERS = 300
_MAX_LINE_BYTES = 2000
"""Terminal escape codes take room and are not shown."""


class StderrTail:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=_MAX_LINES)
        self._unfinished = b""

    def add(self, piece: bytes) -> None:
        """Add output."""
        first, *others = piece.rsplit(b"\n", _MAX_LINES + 1)
        if len(others) > _MAX_LINES:  # the first part may contain many more lines, and none is needed
            first, self._unfinished = b"", b""
        self._unfinished += first[: _MAX_LINE_BYTES - len(self._unfinished)]
        for line in others:
            if self._unfinished.strip():
                self._lines.append(self._unfinished)
            self._unfinished = line[:_MAX_LINE_BYTES]

    @property
    def lines(self) -> tuple[str, ...]:
        """The last twenty lines at most, without blank ones, truncated and sanitized."""
        shown = [printable_line(line.decode(errors="replace")) for line in (*self._lines, self._unfinished)]
        return tuple([line for line in shown if line])[-_MAX_LINES:]


def printable_line(text: str) -> str:
    """Return a line of external output without escape codes, truncated and sanitized."""
    line = sanitize_text(render_terminal_text(text).strip())
    return line if len(line) <= _MAX_LINE_CHARACTERS else f"{line[:_MAX_LINE_CHARACTERS]}..."
