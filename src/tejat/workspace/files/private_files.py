"""Tejat's own files and directories: readable by the user alone, whatever the umask, and replaced atomically."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.core.i18n import lazy
from tejat.workspace.files.temp_file import TempFile, TempFileNaming, remove_stale_temp_files

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SYNC_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


class UnusableDirectory(OSError):
    """A path that should be a directory of the user is something else."""


def make_private_directory(path: str, *, follow_symlinks: bool = False) -> None:
    """Create the directory and its missing parents with mode 0700; close an existing one to others.

    Raises OSError, UnusableDirectory for a path that is not a directory of this user.
    """
    _make_directories(path)
    status = os.stat(path, follow_symlinks=follow_symlinks)
    if not stat.S_ISDIR(status.st_mode):
        raise UnusableDirectory(errno.ENOTDIR, lazy("it is not a directory"), path)
    if status.st_uid != os.geteuid():
        raise UnusableDirectory(errno.EPERM, lazy("it belongs to another user"), path)
    if stat.S_IMODE(status.st_mode) != 0o700:
        os.chmod(path, 0o700)


def create_private_file(path: str) -> int:
    """Create a file with mode 0600 and open it for writing. Raises OSError, FileExistsError for any existing path."""
    descriptor = os.open(path, _CREATE, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_private_file(path: str, content: str | bytes, *, mode: int = 0o600, follow_symlinks: bool = True) -> None:
    """Replace the content of a file as `replace_private_file` does. Text is written as UTF-8."""
    with replace_private_file(path, mode=mode, follow_symlinks=follow_symlinks) as descriptor:
        rest = memoryview(content.encode() if isinstance(content, str) else content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


@contextmanager
def replace_private_file(path: str, *, mode: int = 0o600, follow_symlinks: bool = True) -> Generator[int]:
    """A descriptor for the new content of a file, which takes effect in one durable step when the block succeeds.

    A symbolic link is replaced itself unless `follow_symlinks` is true. Raises OSError.
    """
    directory_path, name = os.path.split(os.path.realpath(path) if follow_symlinks else path)
    directory = os.open(directory_path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        remove_stale_temp_files(directory)
        with TempFile(directory, mode=mode, naming=TempFileNaming.IMMEDIATE) as temporary:
            os.fchmod(temporary.fd, mode)
            yield temporary.fd
            os.fsync(temporary.fd)
            temporary.rename_over(name)
        _sync_directory(directory)
    finally:
        os.close(directory)


def remove_old_files(directory: str, *, before: float, max_bytes: int) -> None:
    """Remove files last changed `before` that time, then the oldest ones until at most `max_bytes` are left.

    Raises nothing: files that cannot be removed stay.
    """
    files: list[tuple[float, int, str]] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    files.append((status.st_mtime, status.st_size, entry.path))
    kept = 0
    for changed, size, path in sorted(files, reverse=True):
        kept += size
        if changed < before or kept > max_bytes:
            with suppress(OSError):
                os.unlink(path)


def _make_directories(path: str) -> None:
    if os.path.lexists(path):
        return
    parent = os.path.dirname(path)
    if parent:
        _make_directories(parent)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)  # the umask may have removed the owner's permissions


def _sync_directory(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory.
        if error.errno not in _SYNC_UNSUPPORTED:
            why = lazy("{why}. The file was written, but a power cut may undo that", why=error.strerror)
            raise OSError(error.errno, why) from error
