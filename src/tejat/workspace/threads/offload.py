"""Blocking file work done in a thread, so that it never stalls a stream or an interrupt."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import TypeVar

from tejat.workspace.threads.pool import submit
from tejat.workspace.threads.stop import StopToken

_Result = TypeVar("_Result")

_STOP_TIMEOUT_SECONDS = 5.0


run_inline: ContextVar[bool] = ContextVar("one_at_a_time", default=False)
"""Set by a caller who makes one call after the other and has nothing else for the loop to do meanwhile.

Work is then done in place: a thread would cost a small call half of its time. An interrupt reaches the work at once.
"""


async def run_blocking(work: Callable[[StopToken], _Result]) -> _Result:
    """Run `work` in a thread and wait for it.

    When the waiting task is cancelled the work is told to stop, and the cancellation goes on once it has let go of its
    files: a caller that sees CancelledError knows that nothing is still being written.
    """
    stop = StopToken()
    if run_inline.get():
        return work(stop)
    running = submit(lambda: work(stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.request_stop()
        running.add_done_callback(_retrieve_exception)
        await _wait_until_done(running)
        raise


async def _wait_until_done(running: "asyncio.Future[_Result]") -> None:
    """Wait for the end of the work, however often the waiting is cancelled, but not for ever."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STOP_TIMEOUT_SECONDS
    while not running.done() and loop.time() < deadline:
        with suppress(asyncio.CancelledError):
            await asyncio.wait((running,), timeout=deadline - loop.time())


def _retrieve_exception(ended: "asyncio.Future[_Result]") -> None:
    """What came of work that nobody waits for is no error that was forgotten."""
    if not ended.cancelled():
        ended.exception()
