"""Advisory locks (flock) that processes share. A lock ends with its descriptor, so at the latest with the process."""

import errno
import fcntl
import os
import time
from collections.abc import Callable

from tejat.workspace.files.private_files import open_private_file
from tejat.workspace.threads.stop import never_stop

_FIRST_PAUSE = 0.0005
_MAX_PAUSE = 0.05


class LockTimeout(TimeoutError):
    """Another process held the lock for too long."""


def open_lock_file(path: str) -> int:
    """Open a lock file, created with mode 0600 if missing. Raises OSError."""
    return open_private_file(path, os.O_RDWR | os.O_CREAT)


def try_lock(descriptor: int) -> bool:
    """Take the exclusive lock of an open file; False while another process holds it. Raises OSError without flock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
            raise
        return False
    return True


def release_lock(descriptor: int) -> None:
    """Release a lock at once, also for child processes that inherited the descriptor. Raises OSError."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def share_lock(descriptor: int) -> None:
    """Take the shared lock of an open file, waiting for an exclusive one to end. Raises OSError without flock."""
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def acquire_lock(descriptor: int, *, timeout: float, stop: Callable[[], None] = never_stop) -> None:
    """Wait for the exclusive lock, calling `stop` meanwhile. Raises OSError, LockTimeout after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while not try_lock(descriptor):
        stop()
        if time.monotonic() > deadline:
            raise LockTimeout(errno.ETIMEDOUT, "another process holds the lock")
        time.sleep(pause)
        pause = min(2 * pause, _MAX_PAUSE)
