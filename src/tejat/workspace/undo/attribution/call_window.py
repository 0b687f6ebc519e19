"""Calls that are running now, or were killed, in any process that uses the same undo store."""

import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress

from tejat.core.frozen import Frozen
from tejat.core.undo import UndoEntry
from tejat.workspace.files.file_lock import try_lock
from tejat.workspace.files.private_files import create_private_file
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes

_PREFIX = "call-"
_KILLED = b"killed\n"


class CallWindow(Frozen):
    """The time of a call without an entry. `ended` is None while it runs."""

    started: float
    ended: float | None

    def overlaps(self, entry: UndoEntry) -> bool:
        """Whether the call ran at the same time as that of an entry."""
        if entry.started is None or self.started > entry.time:
            return False
        return self.ended is None or self.ended >= entry.started


@contextmanager
def open_window(directory: PrivateDirectory, entries: Callable[[], Iterable[UndoEntry]]) -> Generator[None]:
    """Show to other processes that a call is running, from now to the end of the block. Raises OSError.

    Windows of killed processes are marked as such, and removed when they concern none of the entries.
    """
    with directory.lock(never_stop):
        now = time.time()
        _sweep(directory, entries, now)
        name = directory.file_path(f"{_PREFIX}{os.urandom(8).hex()}")
        descriptor = create_private_file(name)
        os.utime(descriptor, (now, now))
        try_lock(descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(name)
        os.close(descriptor)


def read_windows(directory: PrivateDirectory) -> list[CallWindow]:
    """Return the calls that are running or were killed. Raises nothing: what cannot be read is not there."""
    return [window for path in _list(directory) if (window := _read(path)) is not None]


def _sweep(directory: PrivateDirectory, entries: Callable[[], Iterable[UndoEntry]], now: float) -> None:
    for path in _list(directory):
        window = _read(path)
        with suppress(OSError):
            if window is None:
                continue
            if window.ended is None:
                _mark_if_killed(path, window.started, now)
            elif not any(window.overlaps(entry) for entry in entries()):
                os.unlink(path)


def _list(directory: PrivateDirectory) -> list[str]:
    try:
        names = os.listdir(directory.path)
    except OSError:
        return []
    return [directory.file_path(name) for name in names if name.startswith(_PREFIX)]


def _read(path: str) -> CallWindow | None:
    """Read a window: an empty file while the call may be running; the times of the file are those of the call."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return CallWindow(status.st_atime, status.st_mtime if status.st_size else None)


def _mark_if_killed(path: str, started: float, now: float) -> None:
    with open_fd(path, os.O_RDWR | os.O_NOFOLLOW) as descriptor:
        if try_lock(descriptor):
            append_bytes(descriptor, _KILLED)
            os.utime(descriptor, (started, now))
