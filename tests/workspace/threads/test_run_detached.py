"""Blocking code of others beside the loop."""

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from tejat.workspace.threads import daemon
from tejat.workspace.threads.daemon import run_detached

NAME: ContextVar[str] = ContextVar("name")


def raise_it(error: BaseException) -> None:
    raise error


def test_the_loop_goes_on_meanwhile() -> None:
    async def both() -> tuple[int, bool]:
        is_done = threading.Event()
        working = asyncio.ensure_future(run_detached(lambda: (is_done.wait(10), threading.get_ident())))
        await asyncio.sleep(0)
        is_done.set()
        was_set, thread = await working
        return was_set, thread != threading.get_ident()

    assert asyncio.run(both()) == (True, True)


def test_context_variables_are_those_of_the_caller() -> None:
    async def named() -> str:
        NAME.set("caller")
        return await run_detached(NAME.get)

    assert asyncio.run(named()) == "caller"


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("y"), OSError(2, "z")])
def test_what_is_raised_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        asyncio.run(run_detached(lambda: raise_it(error)))
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), StopIteration(1)]
)
def test_nothing_that_is_raised_ends_the_loop_or_the_task(error: BaseException) -> None:
    with pytest.raises(RuntimeError):
        asyncio.run(run_detached(lambda: raise_it(error)))


def test_cancelling_waits_for_work_that_comes_to_its_end() -> None:
    ended: list[float] = []

    def work() -> None:
        time.sleep(0.2)
        ended.append(time.monotonic())

    async def cancel() -> float:
        task = asyncio.ensure_future(run_detached(work))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic()

    cancelled = asyncio.run(cancel())
    assert len(ended) == 1
    assert ended[0] <= cancelled


def test_cancelling_leaves_work_behind_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "_STOP_TIMEOUT_SECONDS", 0.1)
    may_end = threading.Event()

    async def cancel() -> None:
        task = asyncio.ensure_future(run_detached(lambda: may_end.wait(60)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - started < 10
    may_end.set()  # the loop is closed: what comes of it is nobody's any more


PROGRAM = """
import asyncio, time
from tejat.workspace.threads import daemon

async def main():
    daemon._STOP_TIMEOUT_SECONDS = 0.1
    task = asyncio.ensure_future(daemon.run_detached(lambda: time.sleep(3600)))
    await asyncio.sleep(0.05)
    task.cancel()

asyncio.run(main())
"""


def test_a_program_ends_though_the_work_does_not() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
