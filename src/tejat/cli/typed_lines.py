"""Lines that a person types ahead: they stay prompts, in order, whatever is asked in between."""

import select
import sys
from collections import deque

from tejat.cli.read_line import read_line
from tejat.core.visible import visible

_NEXT_LINE = "... "


class TypedLines:
    """Reads prompts from the terminal, which keeps what is typed while something else goes on."""

    def __init__(self) -> None:
        self._ahead: deque[str] = deque()

    async def prompt(self, mark: str) -> str | None:
        """What was typed, without its line end; a backslash at the end of a line lets it go on in the next.

        None at the end of the input.
        """
        typed = await self._line(mark)
        if not typed:
            return None
        while typed.endswith("\\\n"):
            typed = f"{typed[:-2]}\n{await self._line(_NEXT_LINE)}"
        return typed.removesuffix("\n")

    def set_aside(self) -> None:
        """Keep what was typed so far for a prompt: it cannot be the answer to a question that nobody has seen yet."""
        while select.select([sys.stdin], [], [], 0)[0]:
            line = sys.stdin.buffer.readline().decode("utf-8", "replace")
            self._ahead.append(line)
            if not line:
                return

    async def _line(self, mark: str) -> str:
        if not self._ahead:
            return await read_line(mark)
        line = self._ahead.popleft()
        print(f"{mark}{visible(line).removesuffix(chr(10))}", file=sys.stderr, flush=True)
        return line
