"""Forced exit of a process whose event loop hangs after a termination signal."""

import asyncio
import os
import signal
import threading
import time
from types import FrameType

_SECONDS = 5.0
"""Time after which a busy loop counts as stuck."""


class ForcedExit:
    """Kills the process if the loop hangs after the first signal. The watchdog then restores the terminal."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, seconds: float = _SECONDS) -> None:
        self._loop = loop
        self._seconds = seconds
        self._thread: threading.Thread | None = None

    def watch_signal(self, number: signal.Signals) -> None:
        """Start watching at this signal. Call it in the main thread, after adding the loop's own handler."""
        signal.signal(number, self._begin)

    def _begin(self, _number: int, _frame: FrameType | None) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._loop.is_closed():
            noticed = threading.Event()
            try:
                self._loop.call_soon_threadsafe(noticed.set)
            except RuntimeError:  # closed just now
                return
            if not noticed.wait(self._seconds):
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self._seconds)
