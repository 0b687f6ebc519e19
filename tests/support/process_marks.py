"""Finding processes of a test by a unique argument."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path


def new_mark() -> str:
    """A unique argument, which is also a sleep time longer than any test."""
    return f"9{int.from_bytes(os.urandom(5))}.5"


def living_pids(mark: str) -> list[int]:
    """The processes with this argument."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                found.append(int(name))
    return found


def is_alive(pid: int) -> bool:
    """Check that a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


STUBBORN_SCRIPT = (
    "trap '' TERM; echo $$ > pids; sleep 1000 & echo $! >> pids; setsid sleep 1000 & echo $! >> pids; wait"
)
"""A shell and two children that ignore SIGTERM or the end of the shell, with their pids in the file `pids`."""


async def cancel_stubborn(running: "asyncio.Task[object]", directory: Path) -> list[int]:
    """Cancel a task that runs STUBBORN_SCRIPT in this directory, as soon as all have started; return their pids."""
    pids: list[int] = []
    async with asyncio.timeout(30):
        while len(pids) < 3:
            await asyncio.sleep(0.01)
            with suppress(FileNotFoundError):
                pids = [int(line) for line in (directory / "pids").read_text().splitlines()]
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert running.cancelled()
    return pids
