"""A private directory with a lock for several processes."""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress

from tejat.workspace.files.file_lock import acquire_lock
from tejat.workspace.files.private_files import make_private_directory, replace_private_file

_LOCK_TIMEOUT_SECONDS = 20.0


class PrivateDirectory:
    """Files of one user: directories 0700, files 0600, whatever the umask. Created on the first write.

    All methods raise OSError: UnusableDirectory if it belongs to another user, LockTimeout if another process keeps the
    lock.
    """

    __slots__ = ("_checked", "path")

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self._checked = False

    def exists(self) -> bool:
        return os.path.isdir(self.path)

    def file_path(self, name: str) -> str:
        return f"{self.path}/{name}"

    def ensure(self) -> None:
        """Create the directory if it is missing, and make it private."""
        if self._checked:
            return
        make_private_directory(self.path)
        self._checked = True

    def open(self, name: str, flags: int) -> int:
        """Open a file here without following a link."""
        flags |= os.O_CLOEXEC | os.O_NOFOLLOW
        if not flags & os.O_CREAT:
            return os.open(self.file_path(name), flags)
        self.ensure()
        with suppress(FileExistsError):
            descriptor = os.open(self.file_path(name), flags | os.O_EXCL, 0o600)
            os.fchmod(descriptor, 0o600)
            return descriptor
        return os.open(self.file_path(name), flags, 0o600)

    @contextmanager
    def lock(self, stop: Callable[[], None], *, name: str = "lock") -> Generator[None]:
        """Hold the lock against other threads and processes. `stop` is called while waiting."""
        descriptor = self.open(name, os.O_RDWR | os.O_CREAT)
        try:
            acquire_lock(descriptor, timeout=_LOCK_TIMEOUT_SECONDS, stop=stop)
            yield
        finally:
            os.close(descriptor)

    def replace_file(self, name: str) -> AbstractContextManager[int]:
        """Return a descriptor for the new content of a file; see `replace_private_file`."""
        self.ensure()
        return replace_private_file(self.file_path(name), follow_symlinks=False)

    def size(self) -> int:
        """Return the total size of all files."""
        try:
            with os.scandir(self.path) as entries:
                return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except FileNotFoundError:
            return 0

    def flush(self) -> None:
        """Make the names of new files durable."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_bytes(descriptor: int, pieces: bytes) -> None:
    """Append everything or nothing: after a failure the file has its old length. Raises OSError."""
    start = os.lseek(descriptor, 0, os.SEEK_END)
    rest = memoryview(pieces)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.ftruncate(descriptor, start)
        raise


def read_bytes(descriptor: int, offset: int, count: int) -> bytes:
    """Read up to `count` bytes from `offset`; fewer only at the end of the file. Raises OSError."""
    first = os.pread(descriptor, count, offset)
    if len(first) == count or not first:
        return first
    blocks = [first]
    done = len(first)
    while done < count and (block := os.pread(descriptor, count - done, offset + done)):
        blocks.append(block)
        done += len(block)
    return b"".join(blocks)
