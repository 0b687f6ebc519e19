"""Atomic, durable replacement of one file that keeps its metadata and never overwrites a concurrent change."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.workspace.files.handles.created_directories import ParentDirectory
from tejat.workspace.files.metadata import copy_metadata
from tejat.workspace.files.read_tracker import stat_identity
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.files.temp_file import DeferredNamingUnsupported, TempFile, TempFileNaming, remove_stale_temp_files
from tejat.workspace.threads.stop import never_stop


class ExpectedFile(Frozen):
    """The file that the caller read and means to replace.

    With `content` only the bytes are compared, so a touched or re-saved file is no conflict. Without it (a file too
    large to hold in memory) device, inode, size and both times must be those of `status`.
    """

    content: bytes | memoryview | None
    status: os.stat_result


class FileWriteResult(Frozen):
    """The result of a write. `status` is that of the new file; `created_directories` are absolute, outermost first."""

    size: int
    is_new: bool
    broke_hard_link: bool
    created_directories: tuple[str, ...]
    status: os.stat_result


def write_atomically(
    roots: Roots,
    location: Location,
    pieces: Sequence[bytes | memoryview],
    *,
    expected: ExpectedFile | None,
    stop: Callable[[], None] = never_stop,
    is_private: bool = False,
) -> FileWriteResult:
    """Replace the content of the file at `location` with `pieces`.

    `expected` is None for a new file; missing parent directories are created. With `is_private` a new file has mode
    0600, whatever the umask. `stop` is called now and then, for the
    last time right before the change becomes visible; its exceptions propagate. After any exception the old file is
    unchanged, and no temporary file or new directory is left.

    Raises WorkspaceError: STALE_FILE if the file on disk is not the expected one; PERMISSION_DENIED, also for root if
    the mode has no write bit, and if owner, mode or attributes cannot be kept; NO_SPACE_LEFT; SPECIAL_FILE;
    TARGET_IS_DIRECTORY; FILE_WRITE_FAILURE; and the errors of `Roots.open_parent`. Only one FILE_WRITE_FAILURE comes
    after the change: if the directory could not be flushed. Its message says so.
    """
    path = location.path
    try:
        with _open_parent(roots, location, expected) as (parent, created):
            remove_stale_temp_files(parent.fd)
            try:
                written = _write(parent, path, pieces, expected, stop, TempFileNaming.DEFERRED, is_private=is_private)
            except DeferredNamingUnsupported:
                written = _write(parent, path, pieces, expected, stop, TempFileNaming.IMMEDIATE, is_private=is_private)
            _flush_directories(parent.fd, len(created), path)
            return replace(written, created_directories=created)
    except OSError as error:
        if error.errno is None:
            # Not from the system: a TimeoutError raised by `stop`.
            raise
        raise _to_workspace_error(error, path) from error


@contextmanager
def prepare_replacement(roots: Roots, location: Location, expected: ExpectedFile | None) -> Generator[None]:
    """Check the file as `write_atomically` does, for another program that writes it in the block.

    Missing parent directories are created, and removed again if the block fails. Raises WorkspaceError as
    `write_atomically` does.
    """
    path = location.path
    try:
        with _open_parent(roots, location, expected) as (parent, _):
            if expected is None:
                _require_absent(parent, path)
            else:
                with _open_current(parent, path) as current:
                    if not _is_expected(current, os.fstat(current), expected):
                        raise _stale_file_error(path, lazy("its content changed"))
            yield
    except OSError as error:
        if error.errno is None:
            raise
        raise _to_workspace_error(error, path) from error


@contextmanager
def _open_parent(
    roots: Roots, location: Location, expected: ExpectedFile | None
) -> Generator[tuple[ParentDirectory, tuple[str, ...]]]:
    """Open the parent directory, creating missing ones, which are removed again if the block fails."""
    with roots.open_parent(location, create=False) as parent:
        mode = stat.S_IMODE(os.fstat(parent.fd).st_mode)
        if not mode & _ANY_WRITE_BIT:
            reason = lazy("The directory is read-only (mode {mode:04o}).", mode=mode)
            raise _permission_error(location.path, errno.EACCES, reason)
        if not parent.missing:
            yield parent, ()
            return
        missing = len(parent.missing)
    if expected is not None:
        raise _stale_file_error(location.path, lazy("its directory no longer exists"))
    with roots.open_parent(location, create=True) as parent:
        try:
            yield parent, tuple(parent.location.path.rsplit("/", level)[0] for level in range(missing, 0, -1))
        except BaseException:
            parent.remove_created()
            raise


def _write(
    parent: ParentDirectory,
    path: str,
    pieces: Sequence[bytes | memoryview],
    expected: ExpectedFile | None,
    stop: Callable[[], None],
    naming: TempFileNaming,
    *,
    is_private: bool,
) -> FileWriteResult:
    if expected is None:
        _require_absent(parent, path)
        with TempFile(parent.fd, mode=0o600 if is_private else 0o666, naming=naming) as temporary:
            if is_private:
                os.fchmod(temporary.fd, 0o600)
            size = _write_pieces(temporary, pieces, path, stop)
            os.fsync(temporary.fd)
            stop()
            try:
                temporary.link_as(parent.name)
            except FileExistsError:
                _require_absent(parent, path)
                raise
            status = os.fstat(temporary.fd)
            return FileWriteResult(size, is_new=True, broke_hard_link=False, created_directories=(), status=status)
    with _open_current(parent, path) as current, TempFile(parent.fd, mode=0o600, naming=naming) as temporary:
        size = _write_pieces(temporary, pieces, path, stop)
        kept = os.fstat(current)
        copy_metadata(current, temporary.fd)
        os.fsync(temporary.fd)
        stop()
        links = _rename_over(temporary, parent, expected, kept, path)
        status = os.fstat(temporary.fd)
        return FileWriteResult(size, is_new=False, broke_hard_link=links > 1, created_directories=(), status=status)


def _require_absent(parent: ParentDirectory, path: str) -> None:
    with suppress(FileNotFoundError):
        _require_regular_file(os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False), path)
        raise _stale_file_error(path, lazy("it was created in the meantime"))


def _rename_over(
    temporary: TempFile, parent: ParentDirectory, expected: ExpectedFile, kept: os.stat_result, path: str
) -> int:
    """Rename the temporary file over the expected file and return the link count of the latter.

    A change between the last check and the rename, a few microseconds, cannot be detected with POSIX calls. Every
    earlier one is.
    """
    for _ in range(_MAX_ROUNDS):
        with _open_current(parent, path) as current:
            status = os.fstat(current)
            if stat_identity(status) != stat_identity(kept):
                copy_metadata(current, temporary.fd)
                os.fsync(temporary.fd)
                kept = status
            if not _is_expected(current, status, expected):
                raise _stale_file_error(path, lazy("its content changed"))
        temporary.ensure_name()
        if stat_identity(os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)) == stat_identity(status):
            temporary.rename_over(parent.name)
            return status.st_nlink
    raise _stale_file_error(path, lazy("it keeps changing"))


@contextmanager
def _open_current(parent: ParentDirectory, path: str) -> Generator[int]:
    """Open the current file without following a link or blocking on a FIFO."""
    try:
        _require_regular_file(os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False), path)
        current = os.open(parent.name, _READ_IN_PLACE, dir_fd=parent.fd)
    except FileNotFoundError as error:
        raise _stale_file_error(path, lazy("it no longer exists")) from error
    try:
        status = os.fstat(current)
        _require_regular_file(status, path)
        _require_writable(parent, current, status, path)
        yield current
    finally:
        os.close(current)


def _require_regular_file(status: os.stat_result, path: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise _directory_error(path)
    if stat.S_ISLNK(status.st_mode):
        raise _stale_file_error(path, lazy("it is now a symbolic link"))
    message = lazy("Not a regular file, so it cannot be written: {path}.", path=path)
    raise WorkspaceError(message, ErrorType.SPECIAL_FILE, path=path)


def _require_writable(parent: ParentDirectory, current: int, status: os.stat_result, path: str) -> None:
    """Refuse files that the user could not write in place; a rename checks only the directory's permissions."""
    mode = stat.S_IMODE(status.st_mode)
    if not mode & _ANY_WRITE_BIT:
        raise _permission_error(path, errno.EACCES, lazy("The file is read-only (mode {mode:04o}).", mode=mode))
    if os.access(parent.name, os.W_OK, dir_fd=parent.fd):
        return
    if os.fstatvfs(current).f_flag & os.ST_RDONLY:
        raise _permission_error(path, errno.EROFS, lazy("The file system is read-only."))
    user = os.geteuid()
    if user == 0 or (user == status.st_uid and mode & stat.S_IWUSR):
        raise _permission_error(path, errno.EPERM, lazy("The file is protected, for example with the immutable flag."))
    reason = lazy("This user cannot write it (mode {mode:04o}, owner {owner}).", mode=mode, owner=status.st_uid)
    raise _permission_error(path, errno.EACCES, reason)


def _is_expected(current: int, status: os.stat_result, expected: ExpectedFile) -> bool:
    if expected.content is None:
        return stat_identity(status) == stat_identity(expected.status)
    if status.st_size != len(expected.content):
        return False
    wanted = memoryview(expected.content)
    block = bytearray(_BLOCK)
    offset = 0
    while count := os.readv(current, [block]):
        # Not `==`: a memoryview compares one element at a time, `startswith` whole blocks.
        if not block.startswith(wanted[offset : offset + count]):
            return False
        offset += count
    return offset == len(wanted)


def _write_pieces(
    temporary: TempFile, pieces: Sequence[bytes | memoryview], path: str, stop: Callable[[], None]
) -> int:
    size = temporary.write(pieces, stop)
    on_disk = os.fstat(temporary.fd).st_size
    if on_disk != size:
        message = lazy(
            "Error writing to file '{path}': wrote {size} bytes, but {on_disk} are on disk (EIO)",
            path=path,
            size=size,
            on_disk=on_disk,
        )
        raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path)
    return size


def _flush_directories(innermost: int, created: int, path: str) -> None:
    """Flush the parent directory and the directories created on the way to it."""
    try:
        os.fsync(innermost)
        for level in range(1, created + 1):
            with open_fd("/".join([".."] * level), os.O_RDONLY | os.O_DIRECTORY, dir_fd=innermost) as directory:
                os.fsync(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory, and directories that we may write to but not open.
        if error.errno in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES):
            return
        reason = f"{error.strerror} ({_errno_name(error.errno)})"
        message = lazy(
            "Error writing to file '{path}': {reason}. The file was replaced, but a power failure may undo that.",
            path=path,
            reason=reason,
        )
        raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path) from error


def _to_workspace_error(error: OSError, path: str) -> WorkspaceError:
    if error.errno == errno.EISDIR:
        return _directory_error(path)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _permission_error(path, error.errno, f"{error.strerror}.")
    code = _errno_name(error.errno)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message = lazy("No space left on device: {path} ({code})", path=path, code=code)
        return WorkspaceError(message, ErrorType.NO_SPACE_LEFT, path=path)
    message = lazy("Error writing to file '{path}': {why} ({code})", path=path, why=error.strerror, code=code)
    return WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path)


def _permission_error(path: str, code: int | None, reason: str) -> WorkspaceError:
    message = lazy(
        "Permission denied writing to file: {path} ({code}). {reason}", path=path, code=_errno_name(code), reason=reason
    )
    return WorkspaceError(message, ErrorType.PERMISSION_DENIED, path=path)


def _directory_error(path: str) -> WorkspaceError:
    message = lazy("Target is a directory, not a file: {path} (EISDIR)", path=path)
    return WorkspaceError(message, ErrorType.TARGET_IS_DIRECTORY, path=path)


def _stale_file_error(path: str, what: str) -> WorkspaceError:
    message = lazy(
        "The file has changed since it was read, so nothing was written: {path} ({what}). Read it again first.",
        path=path,
        what=what,
    )
    return WorkspaceError(message, ErrorType.STALE_FILE, path=path)


def _errno_name(number: int | None) -> str:
    return errno.errorcode.get(number or 0, "EUNKNOWN")


_ANY_WRITE_BIT = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_READ_IN_PLACE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_BLOCK = 1 << 20
_MAX_ROUNDS = 5
