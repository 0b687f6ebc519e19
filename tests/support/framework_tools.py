"""Tools that agent frameworks are given in tests: a note and a picture to read, and a tool that waits."""

import asyncio
from pathlib import Path

from support.media_files import png
from tejat.tools.python.function_tool import tool

NOTE = "The word is heron.\n"
PICTURE = png()


def fill(directory: Path) -> Path:
    """Create the files that are read."""
    (directory / "note.txt").write_text(NOTE, encoding="utf-8")
    (directory / "picture.png").write_bytes(PICTURE)
    return directory


class Waiter:
    """A tool that waits until its call is cancelled."""

    def __init__(self) -> None:
        self.has_started = asyncio.Event()
        self.was_cancelled = False

        @tool
        async def wait() -> str:
            """Waits."""
            self.has_started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise
            return "never"

        self.tool = wait


async def cancel_during_call(run: "asyncio.Task[object]", waiter: Waiter) -> None:
    """Cancel a run while it waits for the tool."""
    started = asyncio.ensure_future(waiter.has_started.wait())
    await asyncio.wait((run, started), return_when=asyncio.FIRST_COMPLETED)
    assert started.done(), run
    run.cancel()
    await asyncio.wait((run,))
    assert run.cancelled()
