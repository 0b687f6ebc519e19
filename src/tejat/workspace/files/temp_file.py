"""Temporary files beside their target, unnamed (O_TMPFILE) or named, that replace it in one step."""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from tejat.core.text.str_enum import StrEnum


class TempFileNaming(StrEnum):
    """The moment at which a temporary file gets its name."""

    DEFERRED = "deferred"
    """When it is complete, so that a crash leaves nothing behind. Not supported everywhere."""
    IMMEDIATE = "immediate"


class DeferredNamingUnsupported(Exception):
    """The system or file system has no unnamed files, or cannot name them afterwards."""


class TempFile:
    """A new file in the directory with this descriptor; a context manager.

    Errors of the system are raised as OSError; with `TempFileNaming.DEFERRED`, creating, naming and publishing may
    raise DeferredNamingUnsupported. A file that was not published is removed at the end of the context.
    """

    __slots__ = ("_directory", "_name", "fd")

    def __init__(self, directory: int, *, mode: int, naming: TempFileNaming) -> None:
        """`mode` is as for open(2): the kernel applies the umask or the directory's default access list."""
        self._directory = directory
        self._name: str | None = None
        if naming is TempFileNaming.DEFERRED:
            self.fd = _open_unnamed(directory, mode)
        else:
            name = _random_name()
            self.fd = os.open(name, _CREATE, mode, dir_fd=directory)
            self._name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)
        self._unlink_name()

    def write(self, pieces: Sequence[bytes | memoryview], stop: Callable[[], None]) -> int:
        """Append the pieces without joining them and return their size in bytes. `stop` is called now and then."""
        size = 0
        for start in range(0, len(pieces), _BATCH_PIECES):
            stop()
            batch = list(pieces[start : start + _BATCH_PIECES])
            size += sum(map(len, batch))
            _write_batch(self.fd, batch)
        return size

    def ensure_name(self) -> str:
        """Return the temporary name, naming an unnamed file first."""
        if self._name is None:
            # Recorded before it is created, so that an interrupt right after cannot leave it behind.
            self._name = _random_name()
            self._link_fd(self._name)
        return self._name

    def rename_over(self, name: str) -> None:
        """Publish under this name, replacing any file."""
        os.rename(self.ensure_name(), name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        self._name = None

    def link_as(self, name: str) -> None:
        """Publish under a new name. Raises FileExistsError if it is taken."""
        if self._name is None:
            self._link_fd(name)
            return
        try:
            os.link(self._name, name, src_dir_fd=self._directory, dst_dir_fd=self._directory, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _HARD_LINK_ERRORS:
                raise
            self._rename_over_placeholder(name)
        else:
            self._unlink_name()

    def _rename_over_placeholder(self, name: str) -> None:
        # Without hard links, an empty file reserves the name: creating it is as exclusive as linking.
        os.close(os.open(name, _CREATE, 0o600, dir_fd=self._directory))
        try:
            self.rename_over(name)
        except BaseException:
            os.unlink(name, dir_fd=self._directory)
            raise

    def _link_fd(self, name: str) -> None:
        try:
            os.link(_descriptor_path(self.fd), name, dst_dir_fd=self._directory, follow_symlinks=True)
        except OSError as error:
            if error.errno in _DEFERRED_NAMING_ERRORS:
                raise DeferredNamingUnsupported from error
            raise

    def _unlink_name(self) -> None:
        if self._name is None:
            return
        with suppress(FileNotFoundError):
            os.unlink(self._name, dir_fd=self._directory)
        self._name = None


def remove_stale_temp_files(directory: int) -> None:
    """Remove temporary files of killed processes: named by us, owned by this user, process gone. Never raises.

    Each directory is scanned once per process, or again after very many others.
    """
    with suppress(OSError):
        status = os.fstat(directory)
        key = (status.st_dev, status.st_ino)
        if key in _scanned_directories:
            return
        if len(_scanned_directories) >= _MAX_SCANNED:
            _scanned_directories.clear()
        _scanned_directories.add(key)
        for name in os.listdir(directory):
            match = re.fullmatch(_TEMP_NAME, name)
            if match is None or _is_running(int(match[1])):
                continue
            with suppress(OSError):
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    os.unlink(name, dir_fd=directory)


def _open_unnamed(directory: int, mode: int) -> int:
    if sys.platform != "linux":
        raise DeferredNamingUnsupported
    try:
        draft = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=directory)
    except OSError as error:
        if error.errno in _DEFERRED_NAMING_ERRORS and error.errno not in (errno.EPERM, errno.EACCES):
            raise DeferredNamingUnsupported from error
        raise
    try:
        # Without a proc file system there would be no way to name it.
        if not os.path.exists(_descriptor_path(draft)):
            raise DeferredNamingUnsupported
    except BaseException:
        os.close(draft)
        raise
    return draft


def _descriptor_path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _random_name() -> str:
    return f".tejat-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def _write_batch(target: int, batch: list[bytes | memoryview]) -> None:
    while batch:
        count = os.writev(target, batch)
        done = 0
        while done < len(batch) and count >= len(batch[done]):
            count -= len(batch[done])
            done += 1
        if done == 0 and count == 0:
            raise OSError(errno.EIO, "the system takes no more bytes")
        del batch[:done]
        if count:
            batch[0] = memoryview(batch[0])[count:]


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BATCH_PIECES = 1024
_HARD_LINK_ERRORS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
_DEFERRED_NAMING_ERRORS = frozenset(
    (errno.ENOENT, errno.EXDEV, errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.EISDIR)
)
_TEMP_NAME = r"\.tejat-([1-9][0-9]{0,9})-[0-9a-f]{16}\.tmp"
_scanned_directories: set[tuple[int, int]] = set()
_MAX_SCANNED = 1000
