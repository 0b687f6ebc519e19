"""Locks on files that several processes change."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.workspace.files.file_lock import LockTimeout, acquire_lock, open_lock_file


@contextmanager
def file_lock(path: str, *, timeout: float) -> Generator[None]:
    """Hold a lock file, which is created and stays. The lock ends with the process at the latest.

    Blocks the thread for at most `timeout` seconds. Raises UsageError if another process holds it longer, and OSError
    if it cannot be created.
    """
    descriptor = open_lock_file(path)
    try:
        try:
            acquire_lock(descriptor, timeout=timeout)
        except LockTimeout:
            raise UsageError(lazy("Another process keeps {path} locked.", path=path)) from None
        yield
    finally:
        os.close(descriptor)
