"""Reading lines from the terminal."""

import asyncio
import sys
from contextlib import suppress


async def read_line(prompt: str) -> str:
    """Read a line, empty at the end of the input. Unlike `input` it can be cancelled at once."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    except asyncio.CancelledError:
        with suppress(OSError):
            print(file=sys.stderr)  # the next output starts on a new line
        raise
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.buffer.readline().decode("utf-8", "replace")
