"""Work in a thread: its result, its failures, and letting go of it."""

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from tejat.workspace.threads import offload
from tejat.workspace.threads.offload import run_blocking, run_to_completion
from tejat.workspace.threads.stop import StopRequested, StopToken


def run_quietly(main: Callable[[], Awaitable[None]]) -> list[str]:
    """Run `main`; what the loop complained about, such as an exception that nobody looked at."""
    complaints: list[str] = []

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(str(context["message"])))
        await main()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(watched())
    gc.collect()
    return complaints


def test_the_result_comes_back_from_another_thread() -> None:
    async def main() -> None:
        assert await run_blocking(lambda _: threading.get_ident()) != threading.get_ident()
        assert await run_blocking(lambda _: "done") == "done"

    assert run_quietly(main) == []


def test_an_exception_passes() -> None:
    error = ValueError("wrong")

    def work(_: StopToken) -> None:
        raise error

    async def main() -> None:
        with pytest.raises(ValueError, match="wrong") as caught:
            await run_blocking(work)
        assert caught.value is error

    assert run_quietly(main) == []


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> None:
        go = threading.Event()
        task = asyncio.create_task(run_blocking(lambda _: go.wait(10)))
        await asyncio.sleep(0.01)
        assert not task.done()
        go.set()
        assert await task is True

    assert run_quietly(main) == []


def test_stop_is_silent_until_it_is_requested() -> None:
    stop = StopToken()
    stop()
    stop.request_stop()
    with pytest.raises(StopRequested):
        stop()


class Worker:
    """Work that notices a stop, takes a while to tidy up, and writes down what happened."""

    def __init__(self, *, ends_with: type[Exception] | None = StopRequested, tidying: float = 0.05) -> None:
        self.started = threading.Event()
        self.let_go = threading.Event()
        self._ends_with = ends_with
        self._tidying = tidying

    def __call__(self, stop: StopToken) -> str:
        self.started.set()
        try:
            # An end of its own, so that a stop that never comes fails the test instead of holding it up.
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                stop()
                time.sleep(0.001)
        except StopRequested:
            time.sleep(self._tidying)
            self.let_go.set()
            if self._ends_with is None:
                return "finished all the same"
            raise self._ends_with from None
        return "nobody told it to stop"


async def started(worker: Worker) -> "asyncio.Task[str]":
    task = asyncio.create_task(run_blocking(worker))
    await asyncio.to_thread(worker.started.wait, 10)
    return task


@pytest.mark.parametrize("ends_with", [StopRequested, OSError, None])
def test_cancelling_tells_the_work_to_stop_and_waits_until_it_let_go(ends_with: type[Exception] | None) -> None:
    worker = Worker(ends_with=ends_with)

    async def main() -> None:
        task = await started(worker)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert worker.let_go.is_set()

    assert run_quietly(main) == []


def test_a_timeout_is_a_cancellation_too() -> None:
    worker = Worker()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await run_blocking(worker)
        assert worker.let_go.is_set()

    assert run_quietly(main) == []


def test_an_impatient_second_cancellation_does_not_leave_the_work_behind() -> None:
    worker = Worker(tidying=0.2)

    async def main() -> None:
        task = await started(worker)
        task.cancel()
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert worker.let_go.is_set()

    assert run_quietly(main) == []


def test_work_that_does_not_let_go_is_left_alone_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "_STOP_TIMEOUT_SECONDS", 0.05)
    release = threading.Event()
    entered = threading.Event()

    def stubborn(_: StopToken) -> None:
        entered.set()
        release.wait(10)
        raise OSError("too late to tell anyone")

    async def main() -> None:
        task = asyncio.create_task(run_blocking(stubborn))
        await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not release.is_set()
        release.set()
        await asyncio.sleep(0.1)

    assert run_quietly(main) == []


def test_work_that_ends_on_its_own_as_it_is_cancelled_leaves_no_trace() -> None:
    release = threading.Event()

    def work(_: StopToken) -> None:
        release.wait(10)
        raise OSError("just now")

    async def main() -> None:
        task = asyncio.create_task(run_blocking(work))
        await asyncio.sleep(0.01)
        release.set()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert run_quietly(main) == []


class TestToCompletion:
    def test_a_cancelled_caller_waits_until_the_work_is_done(self) -> None:
        done: list[str] = []

        def work(_: StopToken) -> None:
            time.sleep(0.2)
            done.append("done")

        async def main() -> None:
            running = asyncio.create_task(run_to_completion(work, 60))
            for _ in range(3):
                await asyncio.sleep(0.01)
                running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert done == ["done"]

        assert run_quietly(main) == []

    def test_the_time_is_limited(self) -> None:
        def work(stop: StopToken) -> None:
            while True:
                time.sleep(0.01)
                stop()

        async def main() -> None:
            with pytest.raises(TimeoutError, match="it took too long"):
                await run_to_completion(work, 0.05)

        assert run_quietly(main) == []

    def test_an_exception_passes(self) -> None:
        def work(_: StopToken) -> None:
            raise ValueError("wrong")

        async def main() -> None:
            with pytest.raises(ValueError, match="wrong"):
                await run_to_completion(work, 60)

        assert run_quietly(main) == []
