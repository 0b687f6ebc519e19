"""Replaces the content of one file: atomically, durably, keeping its metadata, never over someone else's change."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.workspace.draft import CannotNameLate, Draft, Naming, remove_leftovers
from tejat.workspace.metadata import keep_metadata
from tejat.workspace.records import identity
from tejat.workspace.roots import Location, Parent, Roots


@value
class Original:
    """What the caller saw on disk and means to replace.

    With `content` the bytes decide and nothing else, so a touched or re-saved file is no conflict. Without it (a file
    too large to hold) the identity decides: device, inode, size and both times must be those of `status`.
    """

    content: bytes | memoryview | None
    status: os.stat_result


@value
class Written:
    """What a replacement did. `status` is that of the new file, `made_directories` are absolute, outermost first."""

    size: int
    created: bool
    broke_hard_link: bool
    made_directories: tuple[str, ...]
    status: os.stat_result


def _never_stop() -> None:
    return


def replace_file(
    roots: Roots,
    location: Location,
    pieces: Sequence[bytes | memoryview],
    *,
    expected: Original | None,
    stop: Callable[[], None] = _never_stop,
) -> Written:
    """Make `pieces`, one after the other, the content of the file at `location`.

    `expected` None means that nothing is there yet; missing parent directories are made. `stop` is called now and then
    and for the last time right before the change becomes visible; what it raises is passed on. Whatever is raised, the
    old file is as it was, and no temporary file and no new directory is left.

    Raises WorkspaceError: STALE_FILE if the disk does not hold what was expected; PERMISSION_DENIED, also where we are
    root and the mode has no write bit, and where owner, mode or attributes could not be kept; NO_SPACE_LEFT;
    SPECIAL_FILE; TARGET_IS_DIRECTORY; FILE_WRITE_FAILURE; and whatever `Roots.open_parent` raises. Only one
    FILE_WRITE_FAILURE comes after the change: when the directory could not be flushed. Its message says so.
    """
    path = location.path
    try:
        with _open_parent(roots, location, expected) as (parent, made):
            remove_leftovers(parent.fd)
            try:
                written = _write(parent, path, pieces, expected, stop, Naming.LATE)
            except CannotNameLate:
                written = _write(parent, path, pieces, expected, stop, Naming.AT_ONCE)
            _flush_directories(parent.fd, len(made), path)
            return replace(written, made_directories=made)
    except OSError as error:
        if error.errno is None:
            # Not of the system: a TimeoutError of `stop`.
            raise
        raise _explained(error, path) from error


@contextmanager
def _open_parent(
    roots: Roots, location: Location, expected: Original | None
) -> Generator[tuple[Parent, tuple[str, ...]]]:
    """The directory of the file and the directories made on the way, which are removed again if anything fails."""
    with roots.open_parent(location, create=False) as parent:
        mode = stat.S_IMODE(os.fstat(parent.fd).st_mode)
        if not mode & _ANY_WRITE_BIT:
            raise _denied(
                location.path, errno.EACCES, phrase("The directory is read-only (mode {mode:04o}).", mode=mode)
            )
        if not parent.missing:
            yield parent, ()
            return
        missing = len(parent.missing)
    if expected is not None:
        raise _stale(location.path, phrase("its directory no longer exists"))
    with roots.open_parent(location, create=True) as parent:
        try:
            yield parent, _ancestors(parent.location.path, missing)
        except BaseException:
            parent.remove_created()
            raise


def _ancestors(path: str, count: int) -> tuple[str, ...]:
    found: list[str] = []
    for _ in range(count):
        path = os.path.dirname(path)
        found.append(path)
    return tuple(reversed(found))


def _write(
    parent: Parent,
    path: str,
    pieces: Sequence[bytes | memoryview],
    expected: Original | None,
    stop: Callable[[], None],
    naming: Naming,
) -> Written:
    if expected is None:
        return _create(parent, path, pieces, stop, naming)
    return _overwrite(parent, path, pieces, expected, stop, naming)


def _create(
    parent: Parent, path: str, pieces: Sequence[bytes | memoryview], stop: Callable[[], None], naming: Naming
) -> Written:
    _refuse_existing(parent, path)
    with Draft(parent.fd, mode=0o666, naming=naming) as draft:
        size = _fill(draft, pieces, path, stop)
        os.fsync(draft.fd)
        stop()
        try:
            draft.publish_as_new(parent.name)
        except FileExistsError:
            _refuse_existing(parent, path)
            raise
        return Written(size, created=True, broke_hard_link=False, made_directories=(), status=os.fstat(draft.fd))


def _overwrite(
    parent: Parent,
    path: str,
    pieces: Sequence[bytes | memoryview],
    expected: Original,
    stop: Callable[[], None],
    naming: Naming,
) -> Written:
    with _open_current(parent, path) as current, Draft(parent.fd, mode=0o600, naming=naming) as draft:
        size = _fill(draft, pieces, path, stop)
        kept = os.fstat(current)
        keep_metadata(current, draft.fd)
        os.fsync(draft.fd)
        stop()
        links = _publish_over(draft, parent, expected, kept, path)
        return Written(size, created=False, broke_hard_link=links > 1, made_directories=(), status=os.fstat(draft.fd))


def _refuse_existing(parent: Parent, path: str) -> None:
    with suppress(FileNotFoundError):
        status = os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)
        _refuse_other_than_file(status, path)
        raise _stale(path, phrase("it did not exist then and exists now"))


def _publish_over(draft: Draft, parent: Parent, expected: Original, kept: os.stat_result, path: str) -> int:
    """Rename the draft over the expected file and return how many names that file had.

    What happens to the file between the last look and the rename, a few microseconds, cannot be noticed by any means
    that POSIX has. Everything earlier is.
    """
    for _ in range(_ROUNDS_TO_SETTLE):
        with _open_current(parent, path) as current:
            status = os.fstat(current)
            if identity(status) != identity(kept):
                keep_metadata(current, draft.fd)
                os.fsync(draft.fd)
                kept = status
            if not _is_expected(current, status, expected):
                raise _stale(path, phrase("it has other content now"))
        draft.take_name()
        if identity(os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)) == identity(status):
            draft.publish_over(parent.name)
            return status.st_nlink
    raise _stale(path, phrase("it keeps changing"))


@contextmanager
def _open_current(parent: Parent, path: str) -> Generator[int]:
    """The regular, writable file that has the name now. A link is not followed, a FIFO does not block."""
    try:
        status = os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)
        _refuse_other_than_file(status, path)
        current = os.open(parent.name, _READ_IN_PLACE, dir_fd=parent.fd)
    except FileNotFoundError as error:
        raise _stale(path, phrase("it no longer exists")) from error
    try:
        status = os.fstat(current)
        _refuse_other_than_file(status, path)
        _refuse_unwritable(parent, current, status, path)
        yield current
    finally:
        os.close(current)


def _refuse_other_than_file(status: os.stat_result, path: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise _target_is_directory(path)
    if stat.S_ISLNK(status.st_mode):
        raise _stale(path, phrase("it has become a symbolic link"))
    raise WorkspaceError(
        phrase("Not a regular file: {path}. It cannot be written.", path=path), ErrorType.SPECIAL_FILE, path=path
    )


def _refuse_unwritable(parent: Parent, current: int, status: os.stat_result, path: str) -> None:
    """A rename asks only for rights on the directory; who could not write the file itself is refused all the same."""
    mode = stat.S_IMODE(status.st_mode)
    if not mode & _ANY_WRITE_BIT:
        raise _denied(path, errno.EACCES, phrase("The file is read-only (mode {mode:04o}).", mode=mode))
    if os.access(parent.name, os.W_OK, dir_fd=parent.fd):
        return
    if os.fstatvfs(current).f_flag & os.ST_RDONLY:
        raise _denied(path, errno.EROFS, phrase("The file system is read-only."))
    user = os.geteuid()
    if user == 0 or (user == status.st_uid and mode & stat.S_IWUSR):
        raise _denied(path, errno.EPERM, phrase("The file is protected, for example by the immutable flag."))
    raise _denied(
        path,
        errno.EACCES,
        phrase("This user may not write it (mode {mode:04o}, owner {owner}).", mode=mode, owner=status.st_uid),
    )


def _is_expected(current: int, status: os.stat_result, expected: Original) -> bool:
    if expected.content is None:
        return identity(status) == identity(expected.status)
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


def _fill(draft: Draft, pieces: Sequence[bytes | memoryview], path: str, stop: Callable[[], None]) -> int:
    size = draft.write(pieces, stop)
    on_disk = os.fstat(draft.fd).st_size
    if on_disk != size:
        message = phrase(
            "Error writing to file '{path}': {size} bytes were written and {on_disk} arrived (EIO)",
            path=path,
            size=size,
            on_disk=on_disk,
        )
        raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path)
    return size


def _flush_directories(innermost: int, made: int, path: str) -> None:
    """Make the name last, and those of the directories that were made for it."""
    try:
        os.fsync(innermost)
        for level in range(1, made + 1):
            directory = os.open("/".join([".."] * level), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=innermost)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory, and directories that we may write to but not open.
        if error.errno in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES):
            return
        reason = f"{error.strerror} ({_code(error.errno)})"
        message = phrase(
            "Error writing to file '{path}': {reason}. It was replaced, but a power cut may undo that.",
            path=path,
            reason=reason,
        )
        raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path) from error


def _explained(error: OSError, path: str) -> WorkspaceError:
    if error.errno == errno.EISDIR:
        return _target_is_directory(path)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _denied(path, error.errno, f"{error.strerror}.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message = phrase("No space left on device: {path} ({code})", path=path, code=_code(error.errno))
        return WorkspaceError(message, ErrorType.NO_SPACE_LEFT, path=path)
    message = phrase(
        "Error writing to file '{path}': {why} ({code})", path=path, why=error.strerror, code=_code(error.errno)
    )
    return WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=path)


def _denied(path: str, code: int | None, reason: str) -> WorkspaceError:
    message = phrase(
        "Permission denied writing to file: {path} ({code}). {reason}", path=path, code=_code(code), reason=reason
    )
    return WorkspaceError(message, ErrorType.PERMISSION_DENIED, path=path)


def _target_is_directory(path: str) -> WorkspaceError:
    message = phrase("Target is a directory, not a file: {path} (EISDIR)", path=path)
    return WorkspaceError(message, ErrorType.TARGET_IS_DIRECTORY, path=path)


def _stale(path: str, what: str) -> WorkspaceError:
    message = phrase(
        "The file has changed since it was read, so nothing was written: {path} ({what}). Read it again first.",
        path=path,
        what=what,
    )
    return WorkspaceError(message, ErrorType.STALE_FILE, path=path)


def _code(number: int | None) -> str:
    return errno.errorcode.get(number or 0, "EUNKNOWN")


_ANY_WRITE_BIT = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_READ_IN_PLACE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_BLOCK = 1 << 20
_ROUNDS_TO_SETTLE = 5
