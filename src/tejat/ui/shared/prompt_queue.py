"""Queue of lines that were submitted while other work was running."""

from collections import deque
from collections.abc import Sequence

_SEPARATOR = "\n\n"


class PromptQueue:
    """Submitted lines in order; shell lines begin with `!`."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()

    def add(self, text: str) -> None:
        self._lines.append(text)

    def pop_next(self) -> str | None:
        return self._lines.popleft() if self._lines else None

    def pop_last(self) -> str | None:
        """Return the newest line for editing."""
        return self._lines.pop() if self._lines else None

    def drain(self) -> str:
        """Return all lines as one text for the editor. Several lines together are never a shell command."""
        lines = list(self._lines)
        self._lines.clear()
        text = _SEPARATOR.join(lines)
        return f" {text}" if len(lines) > 1 and text.startswith("!") else text

    def pending(self) -> Sequence[str]:
        return tuple(self._lines)
