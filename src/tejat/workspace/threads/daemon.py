"""Blocking work that nobody may have to wait for at the end of the program."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


def run_in_daemon_thread(function: Callable[[], _Result]) -> "Future[_Result]":
    """Start the work in a thread that does not keep the process alive.

    The threads of an event loop are waited for when it ends, and a name server that does not answer takes a minute.
    """
    future: Future[_Result] = Future()
    future.set_running_or_notify_cancel()
    threading.Thread(target=_run, args=(future, function), daemon=True).start()
    return future


async def wait_for_future(future: "Future[_Result]") -> _Result:
    """Wait for work in the background. A cancelled wait leaves it running: what has begun cannot be cancelled."""
    return await asyncio.wrap_future(future)


def _run(future: "Future[_Result]", function: Callable[[], _Result]) -> None:
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
        future.set_exception(error)
    else:
        future.set_result(result)
