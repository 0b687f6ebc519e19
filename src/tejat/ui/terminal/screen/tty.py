"""The line to the terminal: ours while we draw, given to other programs in between, put back at the end."""

import asyncio
from contextlib import ExitStack

from prompt_toolkit.input import Input

from tejat.ui.terminal.screen.tty_modes import TtyModes
from tejat.ui.terminal.screen.watchdog import Watchdog


class Tty:
    """Of an input that is attached and in its modes between `begin` and `end`. A watchdog knows who has it."""

    def __init__(self, source: Input, *, output_fd: int) -> None:
        self._source = source
        self._descriptors = (source.fileno(), output_fd)
        self._modes = TtyModes(source.fileno())
        self._watchdog = Watchdog()
        self._starting: asyncio.Future[None] | None = None
        self._detached: ExitStack | None = None

    @property
    def is_released(self) -> bool:
        """Whether another program has it."""
        return self._detached is not None

    def start(self) -> None:
        """The watchdog is started beside everything else."""
        self._modes.save_ours()
        if self._modes.original is not None:
            start = asyncio.to_thread(self._watchdog.start, self._descriptors, self._modes.original)
            self._starting = asyncio.ensure_future(start)

    def release(self) -> None:
        """No key is read from here on, and whoever has the terminal next finds it as we found it."""
        self._detached = ExitStack()
        self._detached.enter_context(self._source.detach())
        self._modes.restore_original()
        self._watchdog.set_owner(is_ours=False)

    def reacquire(self) -> bool:
        """Whether it had been given and is ours again."""
        if self._detached is None:
            return False
        self._modes.restore_ours()
        self._watchdog.set_owner(is_ours=True)
        self.abandon()
        return True

    def restore_modes(self) -> bool:
        """Whether somebody had changed its modes without asking, which is undone."""
        if self.is_released or self._modes.are_unchanged:
            return False
        self._modes.restore_ours()
        return True

    def abandon(self) -> None:
        """Whoever has it while we end is not waited for."""
        if self._detached is not None:
            self._detached.close()
            self._detached = None

    async def stop(self) -> None:
        """The terminal has been put back."""
        if self._starting is not None:
            await self._starting
        await asyncio.to_thread(self._watchdog.stop)
