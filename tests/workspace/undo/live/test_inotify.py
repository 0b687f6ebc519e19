"""What happens in watched directories is reported by name, all of it, or it is said that something is missing."""

import asyncio
import mmap
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.workspace.undo.live.inotify import DirectoryEvents, Inotify, max_watches, mounts_beneath

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


@pytest.fixture
def events() -> Iterator[Inotify]:
    opened = Inotify()
    yield opened
    opened.close()


def watch(events: Inotify, path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return events.watch(descriptor)
    finally:
        os.close(descriptor)


def test_every_kind_of_change(events: Inotify, tmp_path: Path) -> None:
    for name in ("written", "removed", "renamed", "mode", "cut"):
        (tmp_path / name).write_text("x" * 5000)
    number = watch(events, tmp_path)
    assert events.take() == DirectoryEvents({}, set(), is_complete=True)
    (tmp_path / "written").read_text()
    assert events.take().names == {}
    (tmp_path / "written").write_text("y")
    (tmp_path / "removed").unlink()
    (tmp_path / "renamed").rename(tmp_path / "new name")
    (tmp_path / "mode").chmod(0o600)
    os.truncate(tmp_path / "cut", 1)
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to("x")
    (tmp_path / "\udcff").touch()
    names = {b"written", b"removed", b"renamed", b"new name", b"mode", b"cut", b"d", b"link", b"\xff"}
    assert events.take() == DirectoryEvents({number: names}, set(), is_complete=True)
    assert events.take().names == {}


def test_stores_to_a_mapped_file(events: Inotify, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 5000)
    number = watch(events, tmp_path)
    with open(tmp_path / "f", "r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    mapped[0] = 65
    mapped.close()
    assert events.take().names == {number: {b"f"}}


def test_a_directory_that_is_gone(events: Inotify, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    outer, inner = watch(events, tmp_path), watch(events, tmp_path / "d")
    assert watch(events, tmp_path) == outer
    (tmp_path / "d").rename(tmp_path / "e")
    (tmp_path / "e" / "f").touch()
    assert events.take().names == {outer: {b"d", b"e"}, inner: {b"f"}}
    (tmp_path / "e" / "f").unlink()
    (tmp_path / "e").rmdir()
    taken = events.take()
    assert (taken.ended, taken.names[outer]) == ({inner}, {b"e"})
    events.unwatch(inner)


def test_closed(events: Inotify, tmp_path: Path) -> None:
    watch(events, tmp_path)
    events.close()
    events.close()
    assert not events.take().is_complete
    with pytest.raises(OSError, match="Bad file descriptor"):
        watch(events, tmp_path)


def test_collecting_keeps_the_queue_from_overflowing(events: Inotify, tmp_path: Path) -> None:
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as limit:
        rounds = 3 * int(limit.read()) // 2000
    if rounds > 100:
        pytest.skip("the queue is long here")
    for name in "ab":
        (tmp_path / name).touch()
    number = watch(events, tmp_path)

    async def work() -> None:
        end = events.collect_on(asyncio.get_running_loop())
        for _ in range(rounds):
            for _ in range(1000):
                os.utime(tmp_path / "a")
                os.utime(tmp_path / "b")
            await asyncio.sleep(0.1)
        end()

    asyncio.run(work())
    assert events.take() == DirectoryEvents({number: {b"a", b"b"}}, set(), is_complete=True)


def test_the_system() -> None:
    assert max_watches() > 0
    assert mounts_beneath("/no/such/directory") == frozenset()
    assert any(" /proc " in line for line in mounts_beneath("/"))
