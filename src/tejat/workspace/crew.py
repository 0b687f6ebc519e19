"""Threads that do the blocking work of one loop: what is quick one after the other, what takes long side by side.

The executor of asyncio wakes the loop for every result. Where the pieces are a tenth of a millisecond long, the loop
and the threads then spend most of their time waiting for each other's turn to run. Here a thread tells of its results
when it has nothing left to do.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

_Result = TypeVar("_Result")

_MOST_THREADS = 8
_LONG_SECONDS = 0.004
"""Work that takes longer than this does not hold up what waits behind it."""
_IDLE_SECONDS = 10.0
_DISMISSAL_SECONDS = 1.0

_crews: "WeakKeyDictionary[asyncio.AbstractEventLoop, Crew]" = WeakKeyDictionary()


def do_beside(work: Callable[[], _Result]) -> "asyncio.Future[_Result]":
    """Do the work in a thread of the running loop's own crew; what it raises is raised by the future."""
    loop = asyncio.get_running_loop()
    crew = _crews.get(loop)
    if crew is None:
        crew = _crews[loop] = Crew()
    return crew.do(work)


async def dismiss() -> None:
    """End the threads of the running loop's crew, unless somebody still has work for them; new work finds new ones."""
    crew = _crews.get(asyncio.get_running_loop())
    if crew is not None:
        await crew.dismiss()


class _Job(NamedTuple):
    future: "asyncio.Future[Any]"
    work: Callable[[], Any]


class Crew:
    """For one loop, whose thread calls `do`. A thread that has had nothing to do for a while ends."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._done: deque[tuple[_Job, Any, BaseException | None]] = deque()
        self._threads = 0
        self._open_jobs = 0
        self._change = threading.Lock()
        self._is_watching = False
        self._finished = self._seen = 0

    def do(self, work: Callable[[], _Result]) -> "asyncio.Future[_Result]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()
        with self._change:
            self._waiting.put(_Job(future, work))
            is_first = not self._threads
            self._threads += is_first
        self._open_jobs += 1
        if is_first:
            self._start_thread()
        if not self._is_watching:
            self._is_watching = True
            loop.call_later(_LONG_SECONDS, self._watch, loop)
        return future

    async def dismiss(self) -> None:
        if self._open_jobs:
            return
        with self._change:
            for _ in range(self._threads):
                self._waiting.put(None)
        deadline = asyncio.get_running_loop().time() + _DISMISSAL_SECONDS
        while self._threads and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 -- threads tell nobody
            await asyncio.sleep(0.001)

    def _start_thread(self) -> None:
        threading.Thread(target=self._work, name="tejat-crew", daemon=True).start()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """As long as something waits: hand over what is done; if nothing was, let one more thread help."""
        is_held_up = not self._done and self._finished == self._seen
        self._seen = self._finished
        self._hand_over()
        self._is_watching = not self._waiting.empty()
        if not self._is_watching:
            return
        if is_held_up:
            self._call_for_help()
        loop.call_later(_LONG_SECONDS, self._watch, loop)

    def _call_for_help(self) -> None:
        with self._change:
            helps = self._threads < _MOST_THREADS
            self._threads += helps
        if helps:
            self._start_thread()

    def _work(self) -> None:
        while True:
            try:
                job = self._waiting.get(timeout=_IDLE_SECONDS)
            except Empty:
                if self._may_end():
                    return
                continue
            if job is None:
                with self._change:
                    self._threads -= 1
                return
            result, error = None, None
            try:
                result = job.work()
            except BaseException as raised:  # noqa: BLE001 -- whoever waits is told
                error = raised
            loop = job.future.get_loop()
            self._done.append((job, result, error))
            self._finished += 1
            del job, result, error
            if self._waiting.empty():
                with suppress(RuntimeError):  # the loop is closed, nobody waits any more
                    loop.call_soon_threadsafe(self._hand_over)
            del loop

    def _may_end(self) -> bool:
        with self._change:
            is_needed = not self._waiting.empty()
            self._threads -= not is_needed
        return not is_needed

    def _hand_over(self) -> None:
        while self._done:
            job, result, error = self._done.popleft()
            self._open_jobs -= 1
            if job.future.done():
                continue
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(error)
