"""A private directory with a lock for several processes."""

import errno
import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress

from tejat.workspace.files.file_lock import acquire_lock
from tejat.workspace.files.private_files import create_private_file, make_private_directory, replace_private_file
from tejat.workspace.files.regular_file import open_fd, read_bytes

_LOCK_TIMEOUT_SECONDS = 20.0
_MIN_FREE_BYTES = 1 << 16


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
        if not self._checked:
            make_private_directory(self.path)
            self._checked = True

    def check_writable(self) -> None:
        """Create the directory if it is missing. Raises OSError if nothing could be written here."""
        self.ensure()
        if not os.access(self.path, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            is_read_only = os.statvfs(self.path).f_flag & os.ST_RDONLY
            code = errno.EROFS if is_read_only else errno.EACCES
            raise OSError(code, os.strerror(code), self.path)
        room = os.statvfs(self.path)
        if room.f_blocks and room.f_bavail * room.f_frsize < _MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)

    @contextmanager
    def open(self, name: str, flags: int) -> Generator[int]:
        """Open a file here for the block, without following a link."""
        if flags & os.O_CREAT:
            self.ensure()
            with suppress(FileExistsError):
                os.close(create_private_file(self.file_path(name)))
        with open_fd(self.file_path(name), flags & ~os.O_CREAT | os.O_NOFOLLOW) as descriptor:
            yield descriptor

    def read(self, name: str) -> bytes:
        """Return the content of a file here."""
        with self.open(name, os.O_RDONLY) as descriptor:
            return read_bytes(descriptor, 0, os.fstat(descriptor).st_size)

    @contextmanager
    def lock(self, stop: Callable[[], None], *, name: str = "lock") -> Generator[None]:
        """Hold the lock against other threads and processes. `stop` is called while waiting."""
        with self.open(name, os.O_RDWR | os.O_CREAT) as descriptor:
            acquire_lock(descriptor, timeout=_LOCK_TIMEOUT_SECONDS, stop=stop)
            yield

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
        with open_fd(self.path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
            os.fsync(descriptor)


def append_bytes(descriptor: int, *pieces: bytes) -> None:
    """Append everything or nothing: after a failure the file has its old length. Raises OSError."""
    start = os.lseek(descriptor, 0, os.SEEK_END)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.ftruncate(descriptor, start)
        raise
