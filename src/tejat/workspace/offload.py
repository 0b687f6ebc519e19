"""Blocking file work done in a thread, so that it never stalls a stream or an interrupt."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")

_LET_GO_SECONDS = 5.0


class Stopped(Exception):
    """Raised inside the thread when nobody waits for its result any more."""


class Stop:
    """Handed to work in a thread, which calls it at points where it may be cut short.

    Raises Stopped once the waiting task was cancelled.
    """

    __slots__ = ("_requested",)

    def __init__(self) -> None:
        self._requested = False

    def request(self) -> None:
        self._requested = True

    def __call__(self) -> None:
        if self._requested:
            raise Stopped


async def off_loop(work: Callable[[Stop], _Result]) -> _Result:
    """Run `work` in a thread and wait for it.

    When the waiting task is cancelled the work is told to stop, and the cancellation goes on once it has let go of its
    files: a caller that sees CancelledError knows that nothing is still being written.
    """
    stop = Stop()
    running = asyncio.get_running_loop().run_in_executor(None, work, stop)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.request()
        await asyncio.wait((running,), timeout=_LET_GO_SECONDS)
        if running.done() and not running.cancelled():
            running.exception()  # looked at, so that it is not reported as forgotten
        raise
