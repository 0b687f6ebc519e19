"""The time limit of a run, which stands still while the user is asked."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager


class RunClock:
    """Measures the working time of a run and ends an `asyncio.timeout` when it is used up."""

    def __init__(self, limit: float, now: Callable[[], float] | None = None) -> None:
        """`limit` is in seconds. `now` is the clock of the event loop unless given."""
        self._limit = limit
        self._now = now or asyncio.get_running_loop().time
        self._started = self._now()
        self._paused_at = 0.0
        self._waited = 0.0
        self._pauses = 0
        self._timeout: asyncio.Timeout | None = None

    @property
    def seconds(self) -> float:
        """The working time so far."""
        until = self._paused_at if self._pauses else self._now()
        return until - self._started - self._waited

    def guard(self, timeout: asyncio.Timeout) -> None:
        """Let the timeout expire when the limit is reached. It must have been entered."""
        self._timeout = timeout
        self._reschedule()

    def release(self) -> None:
        """Leave the timeout alone from now on."""
        self._timeout = None

    @contextmanager
    def pause(self) -> Generator[None]:
        """Let the clock stand still meanwhile. Pauses may overlap."""
        if not self._pauses:
            self._paused_at = self._now()
        self._pauses += 1
        self._reschedule()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._waited += self._now() - self._paused_at
            self._reschedule()

    def _reschedule(self) -> None:
        if self._timeout is None or self._timeout.expired():
            return
        remaining = self._limit - self.seconds
        self._timeout.reschedule(None if self._pauses else asyncio.get_running_loop().time() + remaining)
