"""The lock of a batch: one driver at a time."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.batch.directory import BatchDirectory
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_summary
from tejat.workspace.files.file_lock import open_lock_file, try_lock
from tejat.workspace.files.private_files import make_missing_directories

_MAX_OWNER_BYTES = 300


@contextmanager
def lock_batch(directory: BatchDirectory) -> Generator[None]:
    """Hold the lock of a batch for the block; its directory is created if it is missing.

    Raises OSError, UsageError if another process holds it.
    """
    make_missing_directories(directory.path)
    descriptor = open_lock_file(directory.lock)
    try:
        if not try_lock(descriptor):
            raise UsageError(_held_by(os.pread(descriptor, _MAX_OWNER_BYTES, 0), directory))
        # A full disk only leaves the name of the owner unknown.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _held_by(owner: bytes, directory: BatchDirectory) -> str:
    pid, _space, host = sanitize_summary(owner.decode(errors="replace")).partition(" ")
    return _(
        "Another process runs the batch in {path}: pid {pid} on {host}. Wait until it ends, or stop it.",
        path=directory.path,
        pid=pid or "?",
        host=host or "?",
    )
