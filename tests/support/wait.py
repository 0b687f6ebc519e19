"""Waiting for a condition."""

import asyncio
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path


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


def handles_signal(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for this signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = int(re.findall(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)[0], 16)
    return bool(caught >> (number - 1) & 1)
