"""The time limit of a run."""

import asyncio

import pytest

from tejat.engine.subagents.clock import RunClock


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_pauses_do_not_count_even_if_they_overlap() -> None:
    async def main() -> None:
        time = Time()
        clock = RunClock(60, time)
        time.now = 5
        with clock.pause():
            time.now = 100
            with clock.pause():
                time.now = 200
                assert clock.seconds == 5
            time.now = 300
        time.now = 302
        assert clock.seconds == 7

    asyncio.run(main())


def test_the_limit_ends_the_timeout() -> None:
    async def main() -> None:
        clock = RunClock(0.02)
        async with asyncio.timeout(None) as limit:
            clock.guard(limit)
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_pause_holds_the_timeout_off() -> None:
    async def main() -> None:
        clock = RunClock(0.05)
        async with asyncio.timeout(None) as limit:
            clock.guard(limit)
            with clock.pause():
                await asyncio.sleep(0.15)
            clock.release()
            with clock.pause():  # afterwards nothing is left to end
                pass
        assert not limit.expired()
        assert clock.seconds < 0.05

    asyncio.run(main())
