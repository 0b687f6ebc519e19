"""Lets one process at a time change a file that several share."""

import errno
import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy

_POLL_SECONDS = 0.005


@contextmanager
def file_lock(path: str, *, timeout: float) -> Generator[None]:
    """Hold the lock of that name, a file that is made and stays. The lock ends with the process at the latest.

    Blocks the thread for at most `patience` seconds. Raises UsageError if somebody else holds it for longer, and
    OSError where it cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        _acquire(descriptor, path, time.monotonic() + timeout)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: str, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
        else:
            return
        if time.monotonic() >= deadline:
            raise UsageError(gettext_lazy("Another process holds {path} and does not let go.", path=path))
        time.sleep(_POLL_SECONDS)
