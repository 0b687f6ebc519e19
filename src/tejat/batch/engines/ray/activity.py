"""Activity of jobs on its way from the nodes to the driver: about twice a second, and only the latest state."""

import asyncio
from typing import Any

from tejat.batch.events import TaskPhase

_SECONDS = 0.5


class ActivitySender:
    """Sends what a job does to the board. Called on the event loop of the worker.

    A job that ends within half a second sends nothing.
    """

    def __init__(self, number: int, board: Any) -> None:
        self._number = number
        self._board = board
        self._latest = (TaskPhase.PREPARING.value, "", 0)
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, phase: TaskPhase, activity: str, tokens: int) -> None:
        self._latest = (phase.value, activity, tokens)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._send)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _send(self) -> None:
        self._timer = None
        self._board.put.remote(self._number, *self._latest)


class ActivityBoard:
    """The actor between the nodes and the driver."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, str, int]] = {}
        self._changed = asyncio.Event()

    async def put(self, number: int, phase: str, activity: str, tokens: int) -> None:
        self._entries[number] = (phase, activity, tokens)
        self._changed.set()

    async def take(self) -> dict[int, tuple[str, str, int]]:
        """Wait for entries and return them by the numbers of the jobs."""
        await self._changed.wait()
        self._changed.clear()
        entries, self._entries = self._entries, {}
        return entries
