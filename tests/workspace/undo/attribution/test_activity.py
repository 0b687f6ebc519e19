"""When a command ran and when it only waited, seen from outside."""

import asyncio
import os
import sys
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from tejat.workspace.undo.attribution.activity import Activity, ActivityMonitor

TICK = 20_000_000

needs_statistics = pytest.mark.skipif(
    not os.path.exists("/proc/self/schedstat") or Path("/proc/self/schedstat").read_bytes().startswith(b"0 0"),
    reason="the system does not count when threads run",
)


async def watch(*arguments: str, helpers: Collection[int] = ()) -> tuple[Activity, int, int]:
    started = time.time_ns()
    monitor = ActivityMonitor(lambda: helpers)
    child = await asyncio.create_subprocess_exec(*arguments)
    await child.wait()
    return monitor.stop(), started, time.time_ns()


@needs_statistics
def test_a_wait_is_seen_and_so_is_a_write_after_it(tmp_path: Path) -> None:
    file = tmp_path / "f"
    activity, started, ended = asyncio.run(watch("bash", "-c", f"sleep 2; echo x > {file}"))
    written = file.stat().st_ctime_ns
    assert started < written < ended
    assert activity.covers(written, slack=TICK)
    assert not activity.covers(written - 1_000_000_000, slack=TICK)
    assert activity.seconds < (ended - started) / 1e9 - 1


@needs_statistics
def test_short_waits_are_seen_too() -> None:
    activity, started, ended = asyncio.run(watch("bash", "-c", "for i in 1 2 3; do sleep 0.8; true; done"))
    assert activity.seconds < 0.7 * (ended - started) / 1e9


# Orphans stay with the supervisor of commands.
SUPERVISOR = """
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run(sys.argv[1:])
"""


@needs_statistics
def test_work_in_an_orphan_is_seen(tmp_path: Path) -> None:
    """The first process waits all the time, and what it started is no child of it any more."""
    file = tmp_path / "f"
    command = f"(setsid bash -c 'sleep 1.5; echo x > {file}' &); sleep 3"
    activity, _, ended = asyncio.run(watch(sys.executable, "-c", SUPERVISOR, "bash", "-c", command))
    written = file.stat().st_ctime_ns
    assert activity.covers(written, slack=TICK)
    assert not activity.covers((written + ended) // 2, slack=TICK)


def test_busy_is_busy_all_the_time() -> None:
    code = "import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: pass"
    activity, started, ended = asyncio.run(watch(sys.executable, "-c", code))
    assert activity.covers((started + ended) // 2, slack=0)


def test_what_is_too_short_to_be_seen_counts(tmp_path: Path) -> None:
    file = tmp_path / "f"
    activity, _, _ = asyncio.run(watch("touch", str(file)))
    assert activity.covers(file.stat().st_ctime_ns, slack=TICK)
