"""The line to the terminal: ours while we draw, given to other programs in between, put back at the end."""

import asyncio
from contextlib import ExitStack

from prompt_toolkit.input import Input

from tejat.frontends.terminal.line_modes import LineModes
from tejat.frontends.terminal.watchdog import Watchdog


class Line:
    """Of an input that is attached and in its modes between `begin` and `end`. A watchdog knows who has it."""

    def __init__(self, source: Input, *, writes: int) -> None:
        self._source = source
        self._descriptors = (source.fileno(), writes)
        self._modes = LineModes(source.fileno())
        self._watchdog = Watchdog()
        self._starting: asyncio.Future[None] | None = None
        self._detached: ExitStack | None = None

    @property
    def is_given(self) -> bool:
        """Whether another program has it."""
        return self._detached is not None

    def begin(self) -> None:
        """The watchdog is started beside everything else."""
        self._modes.note_ours()
        if self._modes.found is not None:
            start = asyncio.to_thread(self._watchdog.start, self._descriptors, self._modes.found)
            self._starting = asyncio.ensure_future(start)

    def give(self) -> None:
        """No key is read from here on, and whoever has the terminal next finds it as we found it."""
        self._detached = ExitStack()
        self._detached.enter_context(self._source.detach())
        self._modes.give_back()
        self._watchdog.tell(is_ours=False)

    def take_again(self) -> bool:
        """Whether it had been given and is ours again."""
        if self._detached is None:
            return False
        self._modes.take_again()
        self._watchdog.tell(is_ours=True)
        self.leave_behind()
        return True

    def reclaim(self) -> bool:
        """Whether somebody had changed its modes without asking, which is undone."""
        if self.is_given or self._modes.are_ours:
            return False
        self._modes.take_again()
        return True

    def leave_behind(self) -> None:
        """Whoever has it while we end is not waited for."""
        if self._detached is not None:
            self._detached.close()
            self._detached = None

    async def end(self) -> None:
        """The terminal has been put back."""
        if self._starting is not None:
            await self._starting
        await asyncio.to_thread(self._watchdog.end)
