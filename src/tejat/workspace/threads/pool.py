"""A thread pool per event loop: quick work runs sequentially in one thread, slow work in parallel.

asyncio's executor wakes the loop for every result. With work items of a tenth of a millisecond, loop and threads then
spend most of their time waiting for each other. Here a thread reports its results when it has nothing left to do.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from tejat.core.frozen import Frozen

_Result = TypeVar("_Result")

_MAX_THREADS = 8
_STALL_SECONDS = 0.004
"""Work that takes longer does not delay the work queued behind it."""
_IDLE_SECONDS = 10.0
_SHUTDOWN_SECONDS = 1.0

_pools: "WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPool]" = WeakKeyDictionary()


def submit(work: Callable[[], _Result]) -> "asyncio.Future[_Result]":
    """Run the work in the pool of the running loop and return a future for its result."""
    loop = asyncio.get_running_loop()
    crew = _pools.get(loop)
    if crew is None:
        crew = _pools[loop] = ThreadPool()
    return crew.submit(work)


async def shutdown() -> None:
    """End the idle threads of the running loop's pool. New work starts new ones."""
    crew = _pools.get(asyncio.get_running_loop())
    if crew is not None:
        await crew.shutdown()


class _WorkItem(Frozen):
    future: "asyncio.Future[Any]"
    work: Callable[[], Any]


class ThreadPool:
    """The pool of one loop, used from its thread. A thread ends after a while without work."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_WorkItem | None] = SimpleQueue()
        self._results: deque[tuple[_WorkItem, Any, BaseException | None]] = deque()
        self._threads = 0
        self._pending_count = 0
        self._lock = threading.Lock()
        self._is_watching = False
        self._finished = self._seen = 0

    def submit(self, work: Callable[[], _Result]) -> "asyncio.Future[_Result]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()
        with self._lock:
            self._queue.put(_WorkItem(future, work))
            is_first = not self._threads
            self._threads += is_first
        self._pending_count += 1
        if is_first:
            self._start_thread()
        if not self._is_watching:
            self._is_watching = True
            loop.call_later(_STALL_SECONDS, self._watch, loop)
        return future

    async def shutdown(self) -> None:
        if self._pending_count:
            return
        with self._lock:
            for _ in range(self._threads):
                self._queue.put(None)
        deadline = asyncio.get_running_loop().time() + _SHUTDOWN_SECONDS
        while self._threads and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 -- threads report nothing when they end
            await asyncio.sleep(0.001)

    def _start_thread(self) -> None:
        threading.Thread(target=self._run_worker, name="tejat-pool", daemon=True).start()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """While work is queued: deliver results; if there are none, add a thread."""
        is_held_up = not self._results and self._finished == self._seen
        self._seen = self._finished
        self._deliver_results()
        self._is_watching = not self._queue.empty()
        if not self._is_watching:
            return
        if is_held_up:
            self._add_thread()
        loop.call_later(_STALL_SECONDS, self._watch, loop)

    def _add_thread(self) -> None:
        with self._lock:
            helps = self._threads < _MAX_THREADS
            self._threads += helps
        if helps:
            self._start_thread()

    def _run_worker(self) -> None:
        while True:
            try:
                job = self._queue.get(timeout=_IDLE_SECONDS)
            except Empty:
                if self._try_exit():
                    return
                continue
            if job is None:
                with self._lock:
                    self._threads -= 1
                return
            result, error = None, None
            try:
                result = job.work()
            except BaseException as raised:  # noqa: BLE001 -- raised where the result is awaited
                error = raised
            loop = job.future.get_loop()
            self._results.append((job, result, error))
            self._finished += 1
            del job, result, error
            if self._queue.empty():
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._deliver_results)
            del loop

    def _try_exit(self) -> bool:
        with self._lock:
            is_needed = not self._queue.empty()
            self._threads -= not is_needed
        return not is_needed

    def _deliver_results(self) -> None:
        while self._results:
            job, result, error = self._results.popleft()
            self._pending_count -= 1
            if job.future.done():
                continue
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(error)
