"""Options and clock."""

import asyncio
import time

from tejat.batch.driver.options import SYSTEM_CLOCK, BatchOptions


def test_defaults_set_no_limits() -> None:
    options = BatchOptions("out")
    assert (options.engine, options.jobs, options.retries, options.redo, options.shard) == ("local", None, 2, (), None)
    assert {options.max_cost, options.max_tokens, options.max_seconds, options.max_failures} == {None}


def test_the_clock_is_that_of_the_system() -> None:
    before = time.monotonic()
    asyncio.run(_wait())
    assert before <= SYSTEM_CLOCK.monotonic()
    assert 0 <= SYSTEM_CLOCK.random() < 1
    assert abs(SYSTEM_CLOCK.now() - time.time()) < 60


async def _wait() -> None:
    await SYSTEM_CLOCK.sleep(0)
