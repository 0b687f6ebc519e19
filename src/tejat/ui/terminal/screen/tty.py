"""The terminal device: ours while drawing, released to other programs, restored at the end."""

import asyncio
from contextlib import ExitStack

from prompt_toolkit.input import Input

from tejat.ui.terminal.screen.tty_modes import TtyModes
from tejat.ui.terminal.screen.watchdog import Watchdog
from tejat.workspace.threads.daemon import run_in_daemon


class Tty:
    """Owner of the terminal between `start` and `stop`. A watchdog knows who has it."""

    def __init__(self, source: Input, *, output_fd: int) -> None:
        self._source = source
        self._descriptors = (source.fileno(), output_fd)
        self._modes = TtyModes(source.fileno())
        self._watchdog = Watchdog()
        self._starting: asyncio.Future[None] | None = None
        self._detached: ExitStack | None = None

    @property
    def is_released(self) -> bool:
        """Whether another program has the terminal."""
        return self._detached is not None

    def start(self) -> None:
        """Save our modes and start the watchdog in the background."""
        self._modes.save_ours()
        if self._modes.original is not None:
            original = self._modes.original
            start = run_in_daemon(lambda: self._watchdog.start(self._descriptors, original))
            self._starting = asyncio.ensure_future(start)

    def release(self) -> None:
        """Stop reading keys and restore the original modes."""
        self._detached = ExitStack()
        self._detached.enter_context(self._source.detach())
        self._modes.restore_original()
        self._watchdog.set_owner(is_ours=False)

    def reacquire(self) -> bool:
        """Take the terminal back; return whether it had been released."""
        if self._detached is None:
            return False
        self._modes.restore_ours()
        self._watchdog.set_owner(is_ours=True)
        self.abandon()
        return True

    def restore_modes(self) -> bool:
        """Restore our modes; return whether another program had changed them."""
        if self.is_released or self._modes.are_unchanged:
            return False
        self._modes.restore_ours()
        return True

    def abandon(self) -> None:
        """Reattach without waiting for the program that has the terminal."""
        if self._detached is not None:
            self._detached.close()
            self._detached = None

    async def stop(self) -> None:
        """Stop the watchdog after the terminal was restored."""
        if self._starting is not None:
            await self._starting
        await run_in_daemon(self._watchdog.stop)
