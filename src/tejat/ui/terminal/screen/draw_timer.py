"""Timers for the next redraw."""

import asyncio
from collections.abc import Callable

_TICK_SECONDS = 1.0


class DrawTimer:
    """Two timers that run only on demand: one for a pending redraw, one that ticks."""

    def __init__(self, *, on_due: Callable[[], None], on_tick: Callable[[], None]) -> None:
        self._on_due = on_due
        self._on_tick = on_tick
        self._due: asyncio.TimerHandle | None = None
        self._tick: asyncio.TimerHandle | None = None

    def draw_by(self, when: float) -> None:
        """Draw at this loop time, or earlier if already scheduled."""
        if self._due is not None:
            if self._due.when() <= when:
                return
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_at(when, self._draw)

    def set_ticking(self, *, enabled: bool) -> None:
        """Start or stop ticking once a second."""
        if not enabled:
            self._tick = _cancel(self._tick)
        elif self._tick is None:
            self._tick = asyncio.get_running_loop().call_later(_TICK_SECONDS, self._on_tick_due)

    def stop(self) -> None:
        self._due = _cancel(self._due)
        self._tick = _cancel(self._tick)

    def _draw(self) -> None:
        self._due = None
        self._on_due()

    def _on_tick_due(self) -> None:
        self._tick = asyncio.get_running_loop().call_later(_TICK_SECONDS, self._on_tick_due)
        self._on_tick()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
