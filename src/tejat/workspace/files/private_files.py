"""Tejat's own files and directories: readable by the user alone, whatever the umask, and replaced atomically."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.core.i18n import lazy
from tejat.workspace.files.regular_file import open_fd

_SYNC_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


class UnusableDirectory(OSError):
    """A path that should be a directory of the user is something else."""


def make_private_directory(path: str, *, follow_symlinks: bool = False) -> None:
    """Create the directory and its missing parents with mode 0700; close an existing one to others.

    Raises OSError, UnusableDirectory for a path that is not a directory of this user.
    """
    make_missing_directories(path)
    status = os.stat(path, follow_symlinks=follow_symlinks)
    if not stat.S_ISDIR(status.st_mode):
        raise UnusableDirectory(errno.ENOTDIR, lazy("not a directory"), path)
    if status.st_uid != os.geteuid():
        raise UnusableDirectory(errno.EPERM, lazy("it belongs to another user"), path)
    if stat.S_IMODE(status.st_mode) != 0o700:
        os.chmod(path, 0o700)


def create_private_file(path: str) -> int:
    """Create a file with mode 0600 and open it for writing. Raises OSError, FileExistsError for any existing path."""
    return open_private_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def open_private_file(path: str, flags: int) -> int:
    """Open a regular file and give it mode 0600, whatever the umask. Raises OSError."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, lazy("not a regular file"), path)
        if stat.S_IMODE(mode) != 0o600:
            os.fchmod(descriptor, 0o600)
        os.set_blocking(descriptor, True)  # a child may inherit it
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
    from tejat.workspace.files.temp_file import TempFile, TempFileNaming, remove_stale_temp_files

    directory_path, name = os.path.split(os.path.realpath(path) if follow_symlinks else path)
    with open_fd(directory_path or ".", os.O_RDONLY | os.O_DIRECTORY) as directory:
        remove_stale_temp_files(directory)
        with TempFile(directory, mode=mode, naming=TempFileNaming.IMMEDIATE) as temporary:
            os.fchmod(temporary.fd, mode)
            yield temporary.fd
            os.fsync(temporary.fd)
            temporary.rename_over(name)
        sync_directory(directory)


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


def make_missing_directories(path: str) -> list[str]:
    """Create a directory and its missing parents, mode 0700; return those created, outermost first. Raises OSError."""
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.insert(0, path)
        path = os.path.dirname(path)
    created: list[str] = []
    for directory in missing:
        with suppress(FileExistsError):
            os.mkdir(directory, 0o700)
            created.append(directory)
            os.chmod(directory, 0o700)  # the umask may have removed the owner's permissions
    return created


def sync_directory(directory: int) -> None:
    """Flush the entries of an open directory to the disk, if the file system can. Raises OSError."""
    try:
        os.fsync(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory.
        if error.errno not in _SYNC_UNSUPPORTED:
            why = lazy("{why}. The file was written, but a power failure may undo that", why=error.strerror)
            raise OSError(error.errno, why) from error
