"""The end of a program that was told to end and does not even notice, as before a terminal that takes nothing more."""

import asyncio
import os
import signal
import threading
import time
from types import FrameType

_SECONDS = 5.0
"""So long the loop may be busy with something else before it counts as stuck."""


class ForcedExit:
    """Watches the loop from the first signal on. Who is killed, and not just gone, has a watchdog for the terminal."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, seconds: float = _SECONDS) -> None:
        self._loop = loop
        self._seconds = seconds
        self._thread: threading.Thread | None = None

    def watch_signal(self, number: signal.Signals) -> None:
        """To be called in the main thread, after the loop itself has been told what to do at this signal."""
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
