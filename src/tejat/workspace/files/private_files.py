"""Files that belong to the program itself: for their owner only, whatever the umask, and kept within a quota."""

import os
import stat
from contextlib import suppress

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def make_private_directory(path: str) -> None:
    """Make the directory if it is missing, and shut others out of it. Raises OSError; NotADirectoryError for a link."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_private_directory(parent)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(20, "Not a directory of our own", path)
    if stat.S_IMODE(status.st_mode) != 0o700:
        os.chmod(path, 0o700)


def create_private_file(path: str) -> int:
    """A new file, open for writing; nothing that stands at the path is ever followed or changed. Raises OSError."""
    descriptor = os.open(path, _CREATE, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def remove_old_files(directory: str, *, before: float, most_bytes: int) -> None:
    """Remove the files changed last `before` that time, and then the oldest until at most `most_bytes` are left.

    Raises nothing: what cannot be removed stays, and a directory that is missing holds nothing.
    """
    found: list[tuple[float, int, str]] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    found.append((status.st_mtime, status.st_size, entry.path))
    kept = 0
    for changed, size, path in sorted(found, reverse=True):
        kept += size
        if changed < before or kept > most_bytes:
            with suppress(OSError):
                os.unlink(path)
