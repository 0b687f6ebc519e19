"""Servers that stop at a signal."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

from tejat.core.exit_codes import EXIT_OK


async def run_until_signal(serve: Callable[[], Awaitable[None]]) -> int:
    """Serve until it ends or a signal comes, then shut down, and return the exit code.

    A second signal ends the program at once. Ignored signals stay ignored, as with nohup.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(serve())
    signals: list[int] = []

    def end(number: int) -> None:
        loop.remove_signal_handler(number)
        signals.append(number)
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    await asyncio.wait((task,))
    if signals:
        return 128 + signals[0]
    task.result()
    return EXIT_OK
