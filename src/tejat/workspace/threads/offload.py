"""Interruptible blocking work in the thread pool of the event loop."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import TypeVar

from tejat.core.i18n import _
from tejat.workspace.threads.pool import submit
from tejat.workspace.threads.stop import StopToken

_Result = TypeVar("_Result")

_STOP_TIMEOUT_SECONDS = 5.0


run_inline: ContextVar[bool] = ContextVar("run_inline", default=False)
"""Set by a caller that makes one call at a time and leaves the loop idle meanwhile.

Work then runs in place: a thread would double the time of a small call. An interrupt reaches it at once.
"""


async def run_blocking(work: Callable[[StopToken], _Result]) -> _Result:
    """Run `work` in a thread and wait for it.

    When the waiting task is cancelled, the work is asked to stop, and CancelledError is raised once it has finished:
    then nothing is still being written.
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


async def run_to_completion(work: Callable[[StopToken], None], timeout: float) -> None:  # noqa: ASYNC109 -- cancellation must not end the work
    """Run work in a thread even if the caller is cancelled, up to a time limit; then raise the cancellation.

    Raises TimeoutError.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    working = asyncio.ensure_future(run_blocking(work))
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        if loop.time() > deadline:
            working.cancel()
        try:
            await asyncio.wait((working,), timeout=max(deadline - loop.time(), 1.0))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not working.cancelled():
            working.exception()
        raise cancelled
    if working.cancelled():
        raise TimeoutError(_("it took too long"))
    working.result()


async def _wait_until_done(running: "asyncio.Future[_Result]") -> None:
    """Wait for the work despite repeated cancellation, up to a timeout."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STOP_TIMEOUT_SECONDS
    while not running.done() and loop.time() < deadline:
        with suppress(asyncio.CancelledError):
            await asyncio.wait((running,), timeout=deadline - loop.time())


def _retrieve_exception(ended: "asyncio.Future[_Result]") -> None:
    """Retrieve the exception of abandoned work, so that it is not reported as lost."""
    if not ended.cancelled():
        ended.exception()
