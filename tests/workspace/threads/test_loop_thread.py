"""An event loop in a thread, with something open in it."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from tejat.core.errors import UsageError
from tejat.workspace.threads.loop_thread import LoopThread


@asynccontextmanager
async def opened(log: list[str], *, fails_to_close: bool = False) -> AsyncGenerator[threading.Thread]:
    log.append("open")
    try:
        yield threading.current_thread()
    finally:
        log.append("close")
        if fails_to_close:
            raise KeyError("stuck")


def test_what_is_open_is_closed_in_the_same_thread() -> None:
    log: list[str] = []
    thread = LoopThread(opened(log), name="loop")

    async def where() -> threading.Thread:
        return threading.current_thread()

    assert thread.submit(where()).result(60) is thread.opened
    called = threading.Event()
    thread.call_soon(called.set)
    assert called.wait(60)
    assert (log, thread.is_alive) == (["open"], True)
    thread.stop()
    assert (log, thread.is_alive) == (["open", "close"], False)


def test_after_the_end_nothing_can_be_run() -> None:
    thread = LoopThread(opened([]), name="loop")
    _ = thread.opened
    thread.stop()
    with pytest.raises(RuntimeError):
        thread.submit(asyncio.sleep(0))
    with pytest.raises(RuntimeError):
        thread.call_soon(print)
    thread.stop()


def test_what_fails_to_open() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[None]:
        raise KeyError("no")
        yield

    thread = LoopThread(broken(), name="loop")
    with pytest.raises(KeyError, match="no"):
        _ = thread.opened
    thread.stop()


def test_what_fails_to_close() -> None:
    thread = LoopThread(opened([], fails_to_close=True), name="loop")
    _ = thread.opened
    with pytest.raises(KeyError, match="stuck"):
        thread.stop()


def test_what_is_stopped_while_it_opens() -> None:
    @asynccontextmanager
    async def slow() -> AsyncGenerator[None]:
        await asyncio.sleep(60)
        yield

    thread = LoopThread(slow(), name="loop")
    with ThreadPoolExecutor() as pool:
        opening = pool.submit(lambda: thread.opened)
        thread.stop()
        with pytest.raises(UsageError, match="closed while it was being opened"):
            opening.result(60)
