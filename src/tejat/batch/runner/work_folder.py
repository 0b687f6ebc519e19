"""The folder `work` of a task: removal, whatever the agent left in it."""

import os
import shutil
import stat
from contextlib import suppress


def remove_work(path: str) -> bool:
    """Remove a directory and all in it, read-only directories too. Links are removed, not followed.

    Returns whether it is gone. Raises nothing.
    """
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        _make_writable(path)
        shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)


def _make_writable(path: str) -> None:
    """Give the owner all rights in each directory. A directory is changed before it is listed."""
    pending = [path]
    while pending:
        directory = pending.pop()
        with suppress(OSError):
            if not stat.S_ISDIR(os.lstat(directory).st_mode):
                continue
            os.chmod(directory, stat.S_IRWXU)
            with os.scandir(directory) as entries:
                pending.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
