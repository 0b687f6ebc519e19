"""A timer of the event loop for the next output."""

import asyncio
from collections.abc import Callable


class OutputTimer:
    """Calls a function once at a time that can be moved forward. Without a running event loop it never does."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._due: asyncio.TimerHandle | None = None

    def call_within(self, seconds: float) -> bool:
        """Call in so many seconds, or earlier if that is due already. Return whether there is an event loop."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        when = loop.time() + max(seconds, 0.0)
        if self._due is None or self._due.when() > when:
            self.stop()
            self._due = loop.call_at(when, self._run)
        return True

    def call_from_signal(self) -> None:
        """Call soon, from the handler of a signal."""
        try:
            # Unlike a timer this wakes a loop that waits.
            asyncio.get_running_loop().call_soon_threadsafe(self.call_within, 0.0)
        except RuntimeError:
            return

    def stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _run(self) -> None:
        self._due = None
        self._call()
