"""Temporary directories of sessions, readable by the user alone."""

import os
import time
from contextlib import suppress

_PREFIX = "tejat-session-"
_STALE_SECONDS = 7 * 24 * 3600


def make_session_directory() -> str:
    """Create a directory and return its real path. Raises OSError.

    Directories that killed sessions left, or that were left for background jobs, are removed once unused for days.
    """
    import tempfile

    _remove_stale_directories(tempfile.gettempdir())
    return os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))


def remove_session_directory(path: str) -> None:
    """Remove a directory with everything in it, as far as that is possible."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def _remove_stale_directories(directory: str) -> None:
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _STALE_SECONDS:
                    remove_session_directory(entry.path)
