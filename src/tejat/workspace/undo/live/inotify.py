"""Changes in directories as Linux reports them; see inotify(7)."""

import asyncio
import errno
import os
import struct
from collections.abc import Callable
from threading import Lock

from tejat.core.frozen import Frozen
from tejat.workspace.files.system_calls import inotify_add_watch, inotify_init, inotify_remove_watch

_EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name, which follows
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF = 0x100, 0x200, 0x400
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_DIRECTORY, _EXCLUDE_UNLINKED = 0x1000000, 0x4000000
# The end of writing counts too: stores to a mapped file are reported by nothing else.
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF
_READ_SIZE = 1 << 18
_WATCH_SHARE = 2
_PAUSE = 0.04  # in which no command fills the queue, of 16,384 events


class DirectoryEvents(Frozen):
    """The names that changed in each watched directory, and the watches that ended because a directory is gone.

    If they are not `is_complete`, anything may have changed.
    """

    names: dict[int, set[bytes]]
    ended: set[int]
    is_complete: bool


class Inotify:
    """Watches of directories. Safe for threads. Raises OSError, also where the system has no inotify."""

    def __init__(self) -> None:
        self.fd = inotify_init(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock = Lock()
        self._names: dict[int, set[bytes]] = {}
        self._ended: set[int] = set()
        self._is_complete = True

    def close(self) -> None:
        with self._lock:
            if self.fd >= 0:
                os.close(self.fd)
                self.fd = -1

    def watch(self, directory: int) -> int:
        """Watch an open directory and return the number of its watch, the same one if it is watched already."""
        flags = _MASK | _ONLY_DIRECTORY | _EXCLUDE_UNLINKED
        return inotify_add_watch(self.fd, f"/proc/self/fd/{directory}", flags)

    def unwatch(self, watch: int) -> None:
        """End a watch. One that has ended already is no error."""
        inotify_remove_watch(self.fd, watch)

    def collect(self) -> None:
        """Fetch what has happened, so that the queue of the kernel does not overflow."""
        with self._lock:
            while self.fd >= 0:
                try:
                    events = os.read(self.fd, _READ_SIZE)
                except BlockingIOError:
                    return
                except OSError as error:
                    if error.errno == errno.EINTR:
                        continue
                    self._is_complete = False
                    return
                self._add(events)

    def collect_on(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Fetch events every now and then, until the returned function is called, in the thread of the loop."""

        def again() -> None:
            nonlocal timer
            self.collect()
            timer = loop.call_later(_PAUSE, again)

        def end() -> None:
            timer.cancel()

        timer = loop.call_later(_PAUSE, again)
        return end

    def take(self) -> DirectoryEvents:
        """Return everything that has happened since the last time."""
        self.collect()
        with self._lock:
            taken = DirectoryEvents(self._names, self._ended, self._is_complete and self.fd >= 0)
            self._names, self._ended = {}, set()
            return taken

    def _add(self, events: bytes) -> None:
        names, offset, end = self._names, 0, len(events)
        while offset < end:
            watch, mask, _cookie, length = _EVENT.unpack_from(events, offset)
            start = offset + _EVENT.size
            offset = start + length
            if mask & (_OVERFLOW | _UNMOUNT):
                self._is_complete = False
            elif mask & _IGNORED:
                self._ended.add(watch)
            elif length:
                name = events[start:offset].rstrip(b"\0")
                known = names.get(watch)
                if known is None:
                    names[watch] = {name}
                else:
                    known.add(name)


def mounts_beneath(root: str) -> frozenset[str]:
    """Return the mounts beneath a directory: mounting is no event."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
            escaped = root.rstrip("/").replace("\\", r"\134").replace(" ", r"\040").replace("\t", r"\011")
            wanted = f" {escaped}/"
            return frozenset(line for line in lines if wanted in line)
    except OSError:
        return frozenset()


def max_watches() -> int:
    """Return how many directories may be watched, so that some watches are left for editors. 0 if unknown."""
    try:
        with open("/proc/sys/fs/inotify/max_user_watches", encoding="ascii") as limit:
            return int(limit.read()) // _WATCH_SHARE
    except (OSError, ValueError):
        return 0
