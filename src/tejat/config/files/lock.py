"""Lets one process at a time change a file that several share."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy
from tejat.workspace.files.file_lock import LockTimeout, acquire_lock, open_lock_file


@contextmanager
def file_lock(path: str, *, timeout: float) -> Generator[None]:
    """Hold the lock of that name, a file that is made and stays. The lock ends with the process at the latest.

    Blocks the thread for at most `patience` seconds. Raises UsageError if somebody else holds it for longer, and
    OSError where it cannot be made.
    """
    descriptor = open_lock_file(path)
    try:
        try:
            acquire_lock(descriptor, timeout=timeout)
        except LockTimeout:
            raise UsageError(gettext_lazy("Another process holds {path} and does not let go.", path=path)) from None
        yield
    finally:
        os.close(descriptor)
