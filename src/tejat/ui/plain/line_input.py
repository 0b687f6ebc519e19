"""A line from the person at the terminal."""

import asyncio
import sys
from contextlib import suppress


async def read_line(prompt: str) -> str:
    """A line from the terminal, empty at its end. Unlike `input` it lets an interrupt through at once."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    except asyncio.CancelledError:
        with suppress(OSError):
            print(file=sys.stderr)  # whatever comes next begins on a line of its own
        raise
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.buffer.readline().decode("utf-8", "replace")
