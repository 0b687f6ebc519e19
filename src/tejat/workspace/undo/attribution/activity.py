"""Times at which the processes of a command ran, sampled from the scheduler statistics of Linux."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Collection

from tejat.core.frozen import Frozen
from tejat.workspace.files.regular_file import open_fd, read_bytes
from tejat.workspace.processes.process_tree import boot_ticks, list_processes, with_descendants

# The statistics of a running thread are updated with each tick of the kernel, which takes at most 10 ms.
_FIRST_PAUSE = 0.03
_IDLE_PAUSE = 0.05
_MAX_PAUSE = 0.4
_MAX_THREADS = 500
_READ_SIZE = 256


class Activity(Frozen):
    """Intervals in which a command ran, in nanoseconds since the epoch, in order. Between them it only waited."""

    intervals: tuple[tuple[int, int], ...]

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.intervals) / 1e9

    def covers(self, moment: int, *, slack: int) -> bool:
        """Whether it ran at this time, give or take the slack."""
        return any(start - slack <= moment <= end + slack for start, end in self.intervals)


class ActivityMonitor:
    """Watches the processes that a call starts, in a task of the running loop.

    A thread with the same statistics at two times did not run between them, so it changed no file. `helpers` returns
    the pids of processes that start commands for us and change no files themselves. Where nothing can be known, the
    whole time counts as activity.
    """

    def __init__(self, helpers: Callable[[], Collection[int]]) -> None:
        self._helpers = helpers
        self._intervals: list[tuple[int, int]] = []
        self._sampled = time.time_ns()
        self._started = boot_ticks()
        self._pids: set[int] = set()
        self._statistics: dict[str, bytes] = {}
        self._is_confirmed = False
        self._is_scanned = False
        """Whether the statistics are those of a whole scan, not only of the threads that are left of one."""
        self._task = asyncio.get_running_loop().create_task(self._run()) if _has_statistics() else None

    def stop(self) -> Activity:
        """End the watch and return the activity since it began."""
        if self._task is not None:
            self._task.cancel()
        self._sample(lambda: self._is_confirmed and self._is_same())
        return Activity(tuple(self._intervals))

    async def _run(self) -> None:
        pause, was_busy = _FIRST_PAUSE, False
        while True:
            await asyncio.sleep(pause)
            if not self._sample(self._has_waited):
                pause, was_busy = _IDLE_PAUSE, False
            elif self._is_confirmed or not was_busy:
                pause, was_busy = _FIRST_PAUSE, not self._is_confirmed
            else:
                # What stays busy is looked at less often: there is more to look at, and less to find out.
                pause = min(2 * pause, _MAX_PAUSE)

    def _sample(self, has_waited: Callable[[], bool]) -> bool:
        """Add the time from before the last sample until now if something may have run; return whether it may."""
        began = time.time_ns()
        has_run = not has_waited()
        if has_run and self._intervals and self._intervals[-1][1] >= self._sampled:
            self._intervals[-1] = self._intervals[-1][0], time.time_ns()
        elif has_run:
            self._intervals.append((self._sampled, time.time_ns()))
        self._sampled = began
        return has_run

    def _has_waited(self) -> bool:
        """Whether no process of the call has run since the last sample.

        A scan may miss a process that is being forked. Only a second scan with the same result, between which nothing
        ran, is complete; from then on a new process would show in the statistics of its parent.
        """
        is_same = self._is_same()
        if is_same and self._is_confirmed:
            return True
        if not is_same and self._is_still_known():
            return False
        known = self._pids
        present = _own_descendants(since=self._started) | known
        self._pids = {pid for pid in present - set(self._helpers()) if _threads(pid)}
        if is_same and self._is_scanned and self._pids == known:
            self._is_confirmed = True
            return False
        self._is_confirmed, self._is_scanned = False, True
        paths = [path for pid in self._pids for path in _threads(pid)]
        self._statistics = {} if len(paths) > _MAX_THREADS else {path: _read_statistics(path) for path in paths}
        if b"" in self._statistics.values():
            self._statistics = {}
        return False

    def _is_still_known(self) -> bool:
        """Read the statistics of the known threads again; return whether there still are any.

        While they run, nothing has to be scanned: reading the whole process table takes milliseconds.
        """
        self._is_confirmed = self._is_scanned = False
        current = {path: _read_statistics(path) for path in self._statistics}
        self._statistics = {path: seen for path, seen in current.items() if seen}
        return bool(self._statistics)

    def _is_same(self) -> bool:
        return bool(self._statistics) and all(_read_statistics(path) == seen for path, seen in self._statistics.items())


def _has_statistics() -> bool:
    """Whether the system counts when threads run. Our own thread certainly has."""
    return sys.platform == "linux" and any(
        number != b"0" for number in _read_statistics("/proc/thread-self/schedstat").split()
    )


def _own_descendants(*, since: int) -> set[int]:
    """Return our descendants that were started after this time, in clock ticks since boot."""
    table = list_processes()
    return {pid for pid in with_descendants([os.getpid()], table) if pid in table and table[pid].started >= since}


def _threads(pid: int) -> list[str]:
    """Return where the statistics of the threads of a process are, none if it has ended."""
    try:
        return [f"/proc/{pid}/task/{thread}/schedstat" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _read_statistics(path: str) -> bytes:
    """Return the statistics of a thread, nothing if it has ended or there are none."""
    try:
        with open_fd(path, os.O_RDONLY) as descriptor:
            return read_bytes(descriptor, 0, _READ_SIZE)
    except OSError:
        return b""
