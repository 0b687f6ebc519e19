"""Blocking code that is not ours, in a thread that nobody has to wait for."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")

_STOP_TIMEOUT_SECONDS = 5.0


async def run_detached(work: Callable[[], _Result]) -> _Result:
    """Run `work` in a thread, with the context variables of the caller, and give back what it returns or raises.

    What would end a thread or a task by itself, such as SystemExit, is raised as a RuntimeError. When the waiting task
    is cancelled the work is given a moment to come to its end. Work that does not is left behind: it keeps neither the
    loop nor the program from ending.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    returned: list[_Result] = []
    raised: list[BaseException] = []
    variables = copy_context()

    def run() -> None:
        try:
            returned.append(variables.run(work))
        except BaseException as error:  # noqa: BLE001 -- whoever waits is told
            raised.append(error)
        with suppress(RuntimeError):  # the loop is closed, nobody waits any more
            loop.call_soon_threadsafe(_mark_done, ended)

    threading.Thread(target=run, name="tejat-own-thread", daemon=True).start()
    try:
        await asyncio.shield(ended)
    except asyncio.CancelledError:
        with suppress(asyncio.CancelledError):
            await asyncio.wait((ended,), timeout=_STOP_TIMEOUT_SECONDS)
        raise
    if not raised:
        return returned[0]
    error = raised.pop()
    if isinstance(error, Exception):
        raise error
    raise RuntimeError(f"{type(error).__name__} was raised: {error}") from error


def _mark_done(ended: "asyncio.Future[None]") -> None:
    if not ended.done():
        ended.set_result(None)
