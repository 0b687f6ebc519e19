"""A thread with an event loop, for synchronous programs."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Generic, TypeVar

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy

_Opened = TypeVar("_Opened")
_Result = TypeVar("_Result")


class LoopThread(Generic[_Opened]):
    """A thread with an event loop in which an asynchronous context manager is open."""

    def __init__(self, context: AbstractAsyncContextManager[_Opened], *, name: str) -> None:
        self._context = context
        self._main: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = Future()
        self._opened: Future[_Opened] = Future()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether this is called in the thread."""
        return threading.current_thread() is self._thread

    @property
    def opened(self) -> _Opened:
        """What the context manager returned, once it is open. Raises the exception that kept it from opening."""
        return self._opened.result()

    def call_soon(self, work: Callable[[], object]) -> None:
        """Schedule a call in the loop. Raises RuntimeError once it is closed."""
        loop, _ = self._main.result()
        loop.call_soon_threadsafe(work)

    def submit(self, work: Coroutine[Any, Any, _Result]) -> "Future[_Result]":
        """Run a coroutine in the loop. Raises RuntimeError once it is closed."""
        loop, _ = self._main.result()
        try:
            return asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:
            work.close()
            raise

    def stop(self) -> None:
        """Close the context manager and join the thread. Raises the exception of closing."""
        with suppress(RuntimeError):  # it has ended already
            loop, task = self._main.result()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
        self._thread.join()
        if self._failure is not None and self._opened.exception() is None:
            raise self._failure

    def _run(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._stay_open())
        except BaseException as error:  # noqa: BLE001 -- raised where the thread was started
            self._failure = error
            for waiting in (self._main, self._opened):
                if not waiting.done():
                    waiting.set_exception(error)
        if not self._opened.done():
            self._opened.set_exception(UsageError(lazy("It was closed while it was being opened.")))

    async def _stay_open(self) -> None:
        self._main.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        async with self._context as opened:
            self._opened.set_result(opened)
            await asyncio.Event().wait()
