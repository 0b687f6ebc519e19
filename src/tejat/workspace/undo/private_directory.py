"""A directory that only its owner can look into, and a lock on it that other processes respect."""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress

from tejat.workspace.files.file_lock import acquire_lock
from tejat.workspace.files.private_files import make_private_directory, replace_private_file

_LOCK_TIMEOUT_SECONDS = 20.0


class PrivateDirectory:
    """Files for one user: directories 0700, files 0600 whatever the umask. Made when something is first written.

    Everything raises OSError: PermissionError when the directory belongs to somebody else, TimeoutError when another
    process does not let go of the lock.
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
        """Make sure that it is there, ours and private."""
        if self._checked:
            return
        make_private_directory(self.path)
        self._checked = True

    def open(self, name: str, flags: int) -> int:
        """A descriptor of a file here. A link in its place is not followed."""
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
        """Nobody else, thread or process, is in here meanwhile. `stop` is called while waiting."""
        descriptor = self.open(name, os.O_RDWR | os.O_CREAT)
        try:
            acquire_lock(descriptor, timeout=_LOCK_TIMEOUT_SECONDS, stop=stop)
            yield
        finally:
            os.close(descriptor)

    def replace_file(self, name: str) -> AbstractContextManager[int]:
        """A descriptor for the new content of a file; see `replace_private_file`."""
        self.ensure()
        return replace_private_file(self.file_path(name), follow_symlinks=False)

    def size(self) -> int:
        """Bytes of all files together."""
        try:
            with os.scandir(self.path) as entries:
                return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except FileNotFoundError:
            return 0

    def flush(self) -> None:
        """Make the names of new files last."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_bytes(descriptor: int, pieces: bytes) -> None:
    """Write everything at the end, or nothing: after a failure the file has its old length. Raises OSError."""
    start = os.lseek(descriptor, 0, os.SEEK_END)
    rest = memoryview(pieces)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.ftruncate(descriptor, start)
        raise


def read_bytes(descriptor: int, offset: int, count: int) -> bytes:
    """Up to `count` bytes from `offset` on; fewer only where the file ends. Raises OSError."""
    first = os.pread(descriptor, count, offset)
    if len(first) == count or not first:
        return first
    blocks = [first]
    done = len(first)
    while done < count and (block := os.pread(descriptor, count - done, offset + done)):
        blocks.append(block)
        done += len(block)
    return b"".join(blocks)
