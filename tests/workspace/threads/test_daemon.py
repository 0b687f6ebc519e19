"""Work in threads that nobody has to wait for."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from tejat.workspace.threads.daemon import run_in_daemon, start_daemon


def test_the_result_comes_back() -> None:
    async def main() -> int:
        return await run_in_daemon(lambda: 6 * 7)

    assert asyncio.run(main()) == 42


def test_what_is_raised_comes_back() -> None:
    def fail() -> None:
        raise OSError("no")

    async def main() -> None:
        await run_in_daemon(fail)

    with pytest.raises(OSError, match="no"):
        asyncio.run(main())


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> bool:
        may_end = threading.Event()
        future = start_daemon(lambda: may_end.wait(10))
        await asyncio.sleep(0)
        assert not future.done()
        may_end.set()
        return await asyncio.wrap_future(future)

    assert asyncio.run(main()) is True


def test_a_wait_that_is_cancelled_leaves_the_work_to_others() -> None:
    async def main() -> bool:
        may_end = threading.Event()
        future = start_daemon(lambda: may_end.wait(10))
        waiting = asyncio.ensure_future(asyncio.wrap_future(future))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        may_end.set()
        return await asyncio.wrap_future(future)

    assert asyncio.run(main()) is True


def test_work_may_end_after_the_loop_of_whoever_was_cancelled() -> None:
    may_end = threading.Event()
    futures = []

    async def main() -> None:
        futures.append(start_daemon(lambda: may_end.wait(10)))
        waiting = asyncio.ensure_future(asyncio.wrap_future(futures[0]))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(main())
    may_end.set()
    assert futures[0].result(timeout=10) is True


NEVER_ENDS = """
import asyncio, time
from tejat.workspace.threads.daemon import run_in_daemon

async def main():
    async with asyncio.timeout(0.05):
        await run_in_daemon(lambda: time.sleep(60))

try:
    asyncio.run(main())
except TimeoutError:
    print("over")
"""


def test_the_program_ends_while_the_work_goes_on() -> None:
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", NEVER_ENDS], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
    assert time.monotonic() - start < 20
