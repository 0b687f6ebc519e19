"""Blocking work in daemon threads, which keep neither the event loop nor the process from ending."""

import asyncio
import threading
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")

_STOP_TIMEOUT_SECONDS = 5.0


def start_daemon(work: Callable[[], _Result]) -> "futures.Future[_Result]":
    """Start `work` in a daemon thread, with the context variables of the caller.

    An event loop waits for the threads of its executor when it ends, and a name server that does not answer takes a
    minute.
    """
    future: futures.Future[_Result] = futures.Future()
    future.set_running_or_notify_cancel()
    variables = copy_context()

    def run() -> None:
        try:
            result = variables.run(work)
        except BaseException as error:  # noqa: BLE001 -- raised where the result is awaited
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="tejat-daemon", daemon=True).start()
    return future


async def run_in_daemon(work: Callable[[], _Result]) -> _Result:
    """Run `work` in a daemon thread and wait for it. A cancelled wait leaves it running."""
    return await asyncio.wrap_future(start_daemon(work))


async def run_detached(work: Callable[[], _Result], *, grace: float = _STOP_TIMEOUT_SECONDS) -> _Result:
    """Run third-party code in a daemon thread and wait for it.

    Whatever would end a thread or a task, such as SystemExit, is raised as a RuntimeError. When the waiting task is
    cancelled, the work gets `grace` seconds to finish before it is left behind.
    """
    running = asyncio.wrap_future(start_daemon(lambda: _only_exceptions(work)))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(asyncio.CancelledError):
            await asyncio.wait((running,), timeout=grace)
        if running.done() and not running.cancelled():
            running.exception()  # retrieved, so that it is not reported as lost
        running.cancel()
        raise


def _only_exceptions(work: Callable[[], _Result]) -> _Result:
    try:
        return work()
    except BaseException as error:
        # A future cannot carry StopIteration.
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        text = f": {error}" if str(error) else ""
        raise RuntimeError(f"{type(error).__name__} was raised{text}") from error
