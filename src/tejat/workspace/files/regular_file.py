"""Opening regular files without blocking."""

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
