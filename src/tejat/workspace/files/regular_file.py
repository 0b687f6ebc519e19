"""Regular files: opening without blocking, and executables."""

import errno
import os
import stat


def regular_file_opener(path: str, flags: int) -> int:
    """An opener for `open(path, opener=...)`. Raises OSError, also for anything but a regular file."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_executable_file(path: str) -> bool:
    """Whether the path is a regular file that this user may execute. Raises nothing."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False
