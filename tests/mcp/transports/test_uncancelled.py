"""Waiting that outlasts cancellation."""

import asyncio

import pytest

from tejat.mcp.transports.uncancelled import wait_uncancelled


def test_cancellation_is_raised_when_the_task_is_done() -> None:
    async def main() -> None:
        release = asyncio.Event()

        async def work() -> None:
            await release.wait()

        task = asyncio.create_task(work())
        waiting = asyncio.create_task(wait_uncancelled(task))
        for _ in range(3):
            await asyncio.sleep(0)
            waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert task.done()
        assert not task.cancelled()

    asyncio.run(main())


def test_there_is_a_time_limit() -> None:
    async def main() -> None:
        task = asyncio.create_task(asyncio.sleep(3600))
        await wait_uncancelled(task, 0.01)
        assert not task.done()
        task.cancel()

    asyncio.run(main())


def test_a_failure_stays_in_the_task() -> None:
    async def main() -> None:
        async def fail() -> None:
            raise LookupError

        task = asyncio.create_task(fail())
        await wait_uncancelled(task)
        with pytest.raises(LookupError):
            task.result()

    asyncio.run(main())
