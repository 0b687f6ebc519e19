"""The event loop of a Ray worker, in a thread of its own, with the runner of jobs.

The runner lives as long as the process, so that its template process stays warm. Ray cancels a task by an interrupt of
the main thread, which therefore only waits.
"""

import asyncio
import math
import signal
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from tejat.batch.runner.job_runner import JobRunner
from tejat.workspace.threads.daemon import start_daemon

_Result = TypeVar("_Result")

# The handler of an interrupt runs between two waits only.
_POLL_SECONDS = 0.2
_STOP_SECONDS = 60.0


def run_on_loop(work: Callable[[JobRunner], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the work on the loop and wait for it. An interrupt of this thread, the main one, cancels it.

    What the work returns or raises counts then too. Raises TimeoutError if it does not end a minute after it was
    cancelled.
    """
    job = _LoopJob(work, _home())
    # A handler, because a KeyboardInterrupt could come anywhere, also while another one is handled.
    previous = signal.signal(signal.SIGINT, lambda _number, _frame: job.cancel())
    try:
        job.start()
        return job.wait()
    finally:
        signal.signal(signal.SIGINT, previous)


class _Home:
    """The loop and the runner of this process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.runner = JobRunner()
        start_daemon(self.loop.run_forever)
        asyncio.run_coroutine_threadsafe(self.runner.__aenter__(), self.loop).result()


@cache
def _home() -> _Home:
    return _Home()


class _LoopJob:
    """Work on the loop of another thread."""

    def __init__(self, work: Callable[[JobRunner], Coroutine[Any, Any, Any]], home: _Home) -> None:
        self._work = work
        self._home = home
        self._ended: Future[Any] = Future()
        self._task: asyncio.Task[Any] | None = None
        self._deadline = math.inf

    def start(self) -> None:
        self._home.loop.call_soon_threadsafe(self._start)

    def cancel(self) -> None:
        """Cancel the work; called by the thread that waits. A second time changes nothing."""
        if self._deadline == math.inf:
            self._deadline = time.monotonic() + _STOP_SECONDS
            self._home.loop.call_soon_threadsafe(self._cancel)

    def wait(self) -> Any:
        while True:
            try:
                return self._ended.result(_POLL_SECONDS)
            except TimeoutError:
                if self._ended.done():  # since then, or with a TimeoutError of its own
                    return self._ended.result()
                if time.monotonic() > self._deadline:
                    raise

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._work(self._home.runner))
        self._task.add_done_callback(self._finish)
        if self._deadline != math.inf:
            self._task.cancel()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finish(self, task: "asyncio.Task[Any]") -> None:
        if task.cancelled():
            self._ended.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(task.result())
