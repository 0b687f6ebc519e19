"""Work in the background that a later call would have to wait for."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from tejat.core.log import report_unexpected
from tejat.workspace.threads.daemon import start_daemon
from tejat.workspace.threads.stop import StopRequested

LARGE_TREE = 1000
"""A scan of fewer entries takes a few milliseconds, and sees changes that no event reports."""

_SLICE_SECONDS = 0.002
_PAUSE_SECONDS = 0.001
_CLOSE_SECONDS = 2.0


class Prefetch:
    """Runs `work` in a daemon thread, in short slices, so that the event loop is not held up.

    `work` gets a function to call every now and then, which pauses, and raises StopRequested after `close`. Errors are
    not raised: the call that needs the result does the same work, and reports them.
    """

    def __init__(self, work: Callable[[Callable[[], None]], None]) -> None:
        self._is_cancelled = False
        self._is_urgent = threading.Event()
        self._resumed = time.perf_counter()
        self._future = start_daemon(lambda: self._run(work))

    async def finish(self) -> None:
        """Wait for the rest, which is now done without pauses."""
        self._is_urgent.set()
        if not self._future.done():
            await asyncio.wrap_future(self._future)

    def close(self) -> None:
        """Stop. The thread has ended afterwards, unless the file system does not answer."""
        self._is_cancelled = True
        self._is_urgent.set()
        with suppress(TimeoutError):
            self._future.result(_CLOSE_SECONDS)

    def _run(self, work: Callable[[Callable[[], None]], None]) -> None:
        try:
            work(self._pace)
        except (OSError, StopRequested):
            return
        except Exception as error:  # noqa: BLE001 -- the call that needs the result reports it
            report_unexpected(error, "the scan for undo")

    def _pace(self) -> None:
        if self._is_cancelled:
            raise StopRequested
        if not self._is_urgent.is_set() and time.perf_counter() - self._resumed > _SLICE_SECONDS:
            self._is_urgent.wait(_PAUSE_SECONDS)
            self._resumed = time.perf_counter()


def may_be_large(root: str) -> bool:
    """Whether there are so many entries beneath a directory that it may count as a large tree. Raises nothing."""
    count, pending = 0, [root]
    while pending and count <= LARGE_TREE:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return count > LARGE_TREE
