"""Opening and reading files: descriptors for one block, regular files without blocking, executables."""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tejat.core.text.paths import is_beneath_any


@contextmanager
def open_fd(path: str | bytes, flags: int, *, dir_fd: int | None = None) -> Generator[int]:
    """A descriptor, close-on-exec, for the block. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def regular_file_opener(path: str, flags: int) -> int:
    """An opener for `open(path, opener=...)`. Raises OSError, also for anything but a regular file."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_bytes(descriptor: int, offset: int, count: int) -> bytes:
    """Read up to `count` bytes from `offset`; fewer only at the end of the file. Raises OSError."""
    blocks: list[bytes] = []
    while count > 0 and (block := os.pread(descriptor, count, offset)):
        blocks.append(block)
        offset += len(block)
        count -= len(block)
    return b"".join(blocks)


def is_executable_file(path: str) -> bool:
    """Whether the path is a regular file that this user may execute. Raises nothing."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def find_user_program(name: str, *, untrusted: Sequence[str] = ()) -> str | None:
    """Return the path of a program of the user, given as an absolute path or found in PATH; None if there is none.

    Programs below the `untrusted` directories (the workspace) are never taken from PATH.
    """
    if "/" in name:
        return name if os.path.isabs(name) and is_executable_file(name) else None
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.isabs(directory) and is_executable_file(path) and not _is_within(path, untrusted):
            return path
    return None


def _is_within(path: str, directories: Sequence[str]) -> bool:
    untrusted = [each for directory in directories for each in (directory, os.path.realpath(directory))]
    return any(is_beneath_any(candidate, untrusted) for candidate in (path, os.path.realpath(path)))
