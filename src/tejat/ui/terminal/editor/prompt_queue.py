"""What was typed while something else was being done. It can be had back until its turn comes."""

from collections import deque
from collections.abc import Sequence

_SEPARATOR = "\n\n"


class PromptQueue:
    """Lines in the order in which they were typed. One that begins with `!` is for the shell."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()

    def add(self, text: str) -> None:
        self._lines.append(text)

    def pop_next(self) -> str | None:
        return self._lines.popleft() if self._lines else None

    def pop_last(self) -> str | None:
        """The newest, to be changed."""
        return self._lines.pop() if self._lines else None

    def drain(self) -> str:
        """All of them as one text, for the editor. Several together are never a command for the shell."""
        lines = list(self._lines)
        self._lines.clear()
        text = _SEPARATOR.join(lines)
        return f" {text}" if len(lines) > 1 and text.startswith("!") else text

    def pending(self) -> Sequence[str]:
        return tuple(self._lines)
