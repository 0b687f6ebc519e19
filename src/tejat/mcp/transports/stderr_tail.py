"""The last lines that a program printed, however many there were."""

from collections import deque

from tejat.core.sanitize import sanitize_text
from tejat.workspace.text.terminal_text import render_terminal_text

_MAX_LINES = 20
_MAX_LINE_CHARACTERS = 300
_MAX_LINE_BYTES = 2000
"""What is kept of a line: most codes of a terminal take room and are not shown."""


class StderrTail:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=_MAX_LINES)
        self._unfinished = b""

    def add(self, piece: bytes) -> None:
        """More output, as it comes."""
        first, *others = piece.rsplit(b"\n", _MAX_LINES + 1)
        if len(others) > _MAX_LINES:  # there may be many more lines in the first part, and none is needed
            first, self._unfinished = b"", b""
        self._unfinished += first[: _MAX_LINE_BYTES - len(self._unfinished)]
        for line in others:
            if self._unfinished.strip():
                self._lines.append(self._unfinished)
            self._unfinished = line[:_MAX_LINE_BYTES]

    @property
    def lines(self) -> tuple[str, ...]:
        """Twenty at most, without blank ones, each cut where it is long, fit to be shown."""
        shown = [printable_line(line.decode(errors="replace")) for line in (*self._lines, self._unfinished)]
        return tuple([line for line in shown if line])[-_MAX_LINES:]


def printable_line(text: str) -> str:
    """A line of somebody else's output, without the codes of a terminal, cut where it is long, fit to be shown."""
    line = sanitize_text(render_terminal_text(text).strip())
    return line if len(line) <= _MAX_LINE_CHARACTERS else f"{line[:_MAX_LINE_CHARACTERS]}..."
