"""The timer: the earliest of the times that were asked for, once."""

import asyncio

from support.wait import wait_until_async
from tejat.batch.progress.timer import OutputTimer


def test_without_an_event_loop_nothing_is_called() -> None:
    timer = OutputTimer(lambda: None)
    assert not timer.call_within(0.0)
    timer.call_from_signal()
    timer.stop()


def test_the_earlier_time_wins() -> None:
    async def run() -> None:
        calls: list[float] = []
        timer = OutputTimer(lambda: calls.append(asyncio.get_running_loop().time()))
        assert timer.call_within(3600.0)
        assert timer.call_within(0.0)
        assert timer.call_within(3600.0)
        await wait_until_async(lambda: calls)
        timer.stop()
        assert len(calls) == 1

    asyncio.run(run())


def test_a_stopped_timer_calls_nothing() -> None:
    async def run() -> None:
        calls: list[None] = []
        timer = OutputTimer(lambda: calls.append(None))
        timer.call_within(0.0)
        timer.stop()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert calls == []

    asyncio.run(run())


def test_from_a_signal() -> None:
    async def run() -> None:
        calls: list[None] = []
        timer = OutputTimer(lambda: calls.append(None))
        timer.call_from_signal()
        await wait_until_async(lambda: calls)

    asyncio.run(run())
