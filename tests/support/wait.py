"""Waiting for a condition."""

import asyncio
import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 60.0, wanted: str = "the condition") -> None:
    """Poll the condition. Raises AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{wanted} did not come"
        time.sleep(0.01)


async def wait_until_async(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Poll the condition while the event loop runs. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- it may become true in another process
            await asyncio.sleep(0.01)
