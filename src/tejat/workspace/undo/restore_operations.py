"""Restoring one path (content, permissions, owner, name) in one step, never over an unexpected state."""

import errno
import os
import stat
from contextlib import suppress
from typing import Self

from tejat.core.i18n import lazy
from tejat.core.undo import PathState
from tejat.workspace.files.metadata import copy_metadata
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.files.system_calls import O_PATH
from tejat.workspace.files.temp_file import DeferredNamingUnsupported, TempFile, TempFileNaming
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.tree_state import unpack_file_key

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OWNER_ALL = stat.S_IRWXU


class ConcurrentChange(OSError):
    """The path is no longer in the expected state."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, lazy("it changed at the last moment"))


ExpectedState = bytes | str | None
"""The state seen at a path: the key of a file, the target of a link, None for nothing.

All functions here take a directory descriptor and a name in it, and raise OSError, including ConcurrentChange. Then the
path is unchanged.
"""


class PreparedFile:
    """A file with the content and permissions of `node`, ready to be put in place; a context manager.

    It has no name until `publish`, where the file system allows that, so a crash leaves nothing behind. The caller has
    to make `fd` durable before `publish`, and to flush the directory for the name after it.
    """

    __slots__ = ("_content", "_directory", "_expected", "_name", "_node", "_temporary")

    def __init__(self, directory: int, name: str, content: bytes, node: PathState, *, expected: ExpectedState) -> None:
        """`directory` must stay open as long as the file is."""
        self._directory = directory
        self._name = name
        self._content = content
        self._node = node
        self._expected: ExpectedState = expected
        if expected is not None:  # a new name is exclusive
            _check_expected(directory, name, expected)
        try:
            self._temporary = self._write(TempFileNaming.DEFERRED)
        except DeferredNamingUnsupported:
            self._temporary = self._write(TempFileNaming.IMMEDIATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.__exit__()

    @property
    def fd(self) -> int:
        return self._temporary.fd

    def publish(self) -> None:
        """Replace the path in one step."""
        try:
            self._put_in_place()
        except DeferredNamingUnsupported:
            unnamed, self._temporary = self._temporary, self._write(TempFileNaming.IMMEDIATE)
            unnamed.__exit__()
            os.fsync(self._temporary.fd)
            self._put_in_place()

    def _put_in_place(self) -> None:
        temporary, name = self._temporary, self._name
        if self._expected is None:
            try:
                temporary.link_as(name)
            except FileExistsError as error:
                raise ConcurrentChange from error
            return
        temporary.ensure_name()
        _check_expected(self._directory, name, self._expected)
        temporary.rename_over(name)

    def _write(self, naming: TempFileNaming) -> TempFile:
        temporary = TempFile(self._directory, mode=0o600, naming=naming)
        try:
            temporary.write([self._content], never_stop)
            if isinstance(self._expected, bytes):
                _copy_metadata_from(self._directory, self._name, temporary.fd)
            else:
                with suppress(PermissionError):
                    os.fchown(temporary.fd, *self._node.owner)
            os.fchmod(temporary.fd, self._node.permissions)
        except BaseException:
            temporary.__exit__()
            raise
        return temporary


def restore_link(directory: int, name: str, target: str, *, expected: ExpectedState) -> None:
    if expected is None:
        os.symlink(target, name, dir_fd=directory)
        return
    temporary = f".tejat-{os.getpid()}-{os.urandom(8).hex()}.tmp"
    os.symlink(target, temporary, dir_fd=directory)
    try:
        _check_expected(directory, name, expected)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise


def restore_renamed_file(source: int, source_name: str, directory: int, name: str, *, expected: ExpectedState) -> None:
    """Rename a file back to its old name, which must be free."""
    _check_expected(source, source_name, expected)
    # A second name first: unlike renaming it never replaces anything.
    try:
        os.link(source_name, name, src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as error:
        raise ConcurrentChange from error
    os.unlink(source_name, dir_fd=source)


def remove_file(directory: int, name: str, *, expected: ExpectedState) -> None:
    """Remove a file or a link."""
    _check_expected(directory, name, expected)
    os.unlink(name, dir_fd=directory)


def make_directory(directory: int, name: str, node: PathState) -> None:
    """Create a directory that its owner can write; `set_permissions` follows when it is filled."""
    os.mkdir(name, 0o700, dir_fd=directory)
    with suppress(PermissionError):
        os.chown(name, *node.owner, dir_fd=directory, follow_symlinks=False)
    grant_owner_access(directory, name)


def remove_directory(directory: int, name: str) -> bool:
    """Remove a directory if it is empty; return whether it was."""
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def grant_owner_access(directory: int, name: str) -> None:
    """Give the owner of a directory full access."""
    mode = stat.S_IMODE(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    if mode & _OWNER_ALL != _OWNER_ALL:
        _set_mode(directory, name, mode | _OWNER_ALL)


def set_permissions(directory: int, name: str, node: PathState) -> None:
    """Give a file or directory the permissions of `node`."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise ConcurrentChange
    if stat.S_IMODE(status.st_mode) != node.permissions:
        _set_mode(directory, name, node.permissions)


def _set_mode(directory: int, name: str, mode: int) -> None:
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=directory, follow_symlinks=False)
        return
    # A file that its owner may not read can still be opened with O_PATH.
    with open_fd(name, O_PATH | os.O_NOFOLLOW, dir_fd=directory) as held:
        if stat.S_ISLNK(os.fstat(held).st_mode):
            raise ConcurrentChange
        os.chmod(f"/proc/self/fd/{held}", mode)


def _copy_metadata_from(directory: int, name: str, temporary: int) -> None:
    """Copy attributes and owner of the replaced file. An unreadable one keeps only its owner."""
    try:
        current = os.open(name, _READ_FLAGS, dir_fd=directory)
    except PermissionError:
        return
    try:
        copy_metadata(current, temporary)
    finally:
        os.close(current)


def _check_expected(directory: int, name: str, expected: ExpectedState) -> None:
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        if expected is None:
            return
        raise ConcurrentChange from None
    if isinstance(expected, bytes):
        # Not ctime or mode: they change when another hard link of the file is restored.
        seen = unpack_file_key(expected)
        marks = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if marks != (seen.device, seen.inode, seen.size, seen.modified):
            raise ConcurrentChange
    elif not stat.S_ISLNK(status.st_mode) or os.readlink(name, dir_fd=directory) != expected:
        raise ConcurrentChange
