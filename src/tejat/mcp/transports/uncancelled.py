"""Waiting that outlasts cancellation."""

import asyncio


async def wait_uncancelled(task: "asyncio.Task[None]", seconds: float | None = None) -> None:
    """Wait for a task, at most this long, even if the caller is cancelled; then raise CancelledError."""
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        left = None if deadline is None else deadline - loop.time()
        if left is not None and left <= 0:
            break
        try:
            await asyncio.wait((task,), timeout=left)
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        raise cancellation
