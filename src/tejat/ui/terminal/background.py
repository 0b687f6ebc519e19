"""The question for the background of the terminal, answered among the keys."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from prompt_toolkit.output import Output

from tejat.ui.shared.terminal_background import BACKGROUND_QUERY, is_dark_report

_END_SECONDS = 0.3
"""Time after the question in which the program does not end without the answer, which the shell would get."""
_PRINT_SECONDS = 0.15
"""Time after the question in which nothing is printed in colours that may not fit."""
_MIN_SECONDS = 0.01
"""Time to read an answer that is already there."""


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
            self._output.write_raw(BACKGROUND_QUERY)
            self._output.flush()

    def handle_report(self, colour: str) -> None:
        """Take the answer of the terminal. One that is no colour changes nothing."""
        self._answered.set()
        is_dark = is_dark_report(colour)
        if is_dark is not None:
            self._on_answer(is_dark)

    async def wait_before_printing(self) -> None:
        """Wait a moment for an answer that is still on its way, or for one that nobody has read yet."""
        await self._wait(_PRINT_SECONDS)

    async def wait_before_end(self) -> None:
        """Wait a little longer, so that the answer does not reach the shell."""
        await self._wait(_END_SECONDS)

    async def _wait(self, seconds: float) -> None:
        if self._asked is not None and self.is_pending:
            left = self._asked + seconds - time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(left, _MIN_SECONDS)):
                    await self._answered.wait()
