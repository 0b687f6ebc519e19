"""Lines typed ahead, which stay prompts even if a question is asked in between."""

import select
import sys
from collections import deque

from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.line_input import read_line

_CONTINUATION_PROMPT = "... "


class TypeAheadReader:
    """Reads prompts from the terminal, which buffers typed lines."""

    def __init__(self) -> None:
        self._buffered: deque[str] = deque()

    async def read_prompt(self, mark: str) -> str | None:
        """Read a prompt without its newline; a trailing backslash continues it. None at the end of the input."""
        typed = await self._read_line(mark)
        if not typed:
            return None
        while typed.endswith("\\\n"):
            typed = f"{typed[:-2]}\n{await self._read_line(_CONTINUATION_PROMPT)}"
        return typed.removesuffix("\n")

    def drain(self) -> None:
        """Keep the lines typed so far as prompts: they cannot answer a question that was not shown yet."""
        while select.select([sys.stdin], [], [], 0)[0]:
            line = sys.stdin.buffer.readline().decode("utf-8", "replace")
            self._buffered.append(line)
            if not line:
                return

    async def _read_line(self, mark: str) -> str:
        if not self._buffered:
            return await read_line(mark)
        line = self._buffered.popleft()
        print(f"{mark}{sanitize_text(line).removesuffix(chr(10))}", file=sys.stderr, flush=True)
        return line
