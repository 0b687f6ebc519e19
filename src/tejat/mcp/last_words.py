"""The last lines that a program printed, however many there were."""

from collections import deque

from tejat.core.visible import visible
from tejat.workspace.terminal_text import as_shown

_LINES = 20
_LINE_CHARACTERS = 300
_LINE_BYTES = 2000
"""What is kept of a line: most codes of a terminal take room and are not shown."""


class LastWords:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=_LINES)
        self._unfinished = b""

    def add(self, piece: bytes) -> None:
        """More output, as it comes."""
        first, *others = piece.rsplit(b"\n", _LINES + 1)
        if len(others) > _LINES:  # there may be many more lines in the first part, and none is needed
            first, self._unfinished = b"", b""
        self._unfinished += first[: _LINE_BYTES - len(self._unfinished)]
        for line in others:
            if self._unfinished.strip():
                self._lines.append(self._unfinished)
            self._unfinished = line[:_LINE_BYTES]

    @property
    def lines(self) -> tuple[str, ...]:
        """Twenty at most, without blank ones, each cut where it is long, fit to be shown."""
        shown = [shown_line(line.decode(errors="replace")) for line in (*self._lines, self._unfinished)]
        return tuple([line for line in shown if line])[-_LINES:]


def shown_line(text: str) -> str:
    """A line of somebody else's output, without the codes of a terminal, cut where it is long, fit to be shown."""
    line = visible(as_shown(text).strip())
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}..."
