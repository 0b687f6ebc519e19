"""Makes one path what it was: content, permissions, owner and name in one step, never over something unexpected."""

import errno
import os
import stat
from contextlib import suppress

from tejat.core.undo import Node
from tejat.core.words import phrase
from tejat.workspace.draft import CannotNameLate, Draft, Naming
from tejat.workspace.history.tree_state import read_key
from tejat.workspace.metadata import keep_metadata
from tejat.workspace.system_calls import O_PATH

_IN_PLACE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OWNER_ALL = stat.S_IRWXU


class ChangedMeanwhile(OSError):
    """What is at the path is no longer what was seen there."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, phrase("it changed in the last moment"))


Expected = bytes | str | None
"""What was seen at a path: the key of a file, the target of a link, None where nothing was.

All functions here take a descriptor of the directory and the name in it, and raise OSError, ChangedMeanwhile among
them. Then the path is as it was.
"""


def put_file(directory: int, name: str, content: bytes, node: Node, *, expected: Expected) -> None:
    """Make `content` a file with the permissions of `node`; what was there is replaced in one step.

    The content lasts through a power cut. For the name the caller must flush the directory.
    """
    _check(directory, name, expected)
    try:
        _put_file(directory, name, content, node, expected, Naming.LATE)
    except CannotNameLate:
        _put_file(directory, name, content, node, expected, Naming.AT_ONCE)


def put_link(directory: int, name: str, target: str, *, expected: Expected) -> None:
    if expected is None:
        os.symlink(target, name, dir_fd=directory)
        return
    draft = f".tejat-{os.getpid()}-{os.urandom(8).hex()}.tmp"
    os.symlink(target, draft, dir_fd=directory)
    try:
        _check(directory, name, expected)
        os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(draft, dir_fd=directory)
        raise


def move_back(source: int, source_name: str, directory: int, name: str, *, expected: Expected) -> None:
    """Give a file its old name, which must be free."""
    _check(source, source_name, expected)
    # A second name first: unlike renaming it never replaces anything.
    try:
        os.link(source_name, name, src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as error:
        raise ChangedMeanwhile from error
    os.unlink(source_name, dir_fd=source)


def remove_file(directory: int, name: str, *, expected: Expected) -> None:
    """Remove a file or a link."""
    _check(directory, name, expected)
    os.unlink(name, dir_fd=directory)


def make_directory(directory: int, name: str, node: Node) -> None:
    """For now its owner may do everything in it: `set_permissions` comes when it is filled."""
    os.mkdir(name, 0o700, dir_fd=directory)
    with suppress(PermissionError):
        os.chown(name, *node.owner, dir_fd=directory, follow_symlinks=False)
    allow_owner(directory, name)


def remove_directory(directory: int, name: str) -> bool:
    """Remove a directory if it is empty, and say whether it was."""
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def allow_owner(directory: int, name: str) -> None:
    """Let the owner of a directory work in it."""
    mode = stat.S_IMODE(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    if mode & _OWNER_ALL != _OWNER_ALL:
        _set_mode(directory, name, mode | _OWNER_ALL)


def has_other_names(directory: int, name: str) -> bool:
    """Whether the file is known by further names, which share its permissions."""
    return os.stat(name, dir_fd=directory, follow_symlinks=False).st_nlink > 1


def set_permissions(directory: int, name: str, node: Node) -> None:
    """Give a file or directory the permissions of `node`."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise ChangedMeanwhile
    if stat.S_IMODE(status.st_mode) != node.permissions:
        _set_mode(directory, name, node.permissions)


def _set_mode(directory: int, name: str, mode: int) -> None:
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=directory, follow_symlinks=False)
        return
    # What its owner may not read cannot be opened, but it can be held.
    held = os.open(name, O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        if stat.S_ISLNK(os.fstat(held).st_mode):
            raise ChangedMeanwhile
        os.chmod(f"/proc/self/fd/{held}", mode)
    finally:
        os.close(held)


def _put_file(directory: int, name: str, content: bytes, node: Node, expected: Expected, naming: Naming) -> None:
    with Draft(directory, mode=0o600, naming=naming) as draft:
        draft.write([content], _never_stop)
        if isinstance(expected, bytes):
            _keep_metadata(directory, name, draft.fd)
        else:
            with suppress(PermissionError):
                os.fchown(draft.fd, *node.owner)
        os.fchmod(draft.fd, node.permissions)
        os.fsync(draft.fd)
        if expected is None:
            try:
                draft.publish_as_new(name)
            except FileExistsError as error:
                raise ChangedMeanwhile from error
            return
        draft.take_name()
        _check(directory, name, expected)
        draft.publish_over(name)


def _keep_metadata(directory: int, name: str, draft: int) -> None:
    """Attributes and owner of the file that is replaced. One that may not be read keeps nothing but its owner."""
    try:
        current = os.open(name, _IN_PLACE, dir_fd=directory)
    except PermissionError:
        return
    try:
        keep_metadata(current, draft)
    finally:
        os.close(current)


def _check(directory: int, name: str, expected: Expected) -> None:
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        if expected is None:
            return
        raise ChangedMeanwhile from None
    if isinstance(expected, bytes):
        # Not the time of change nor the mode: they move when another name of the same file is put back.
        seen = read_key(expected)
        marks = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if marks != (seen.device, seen.inode, seen.size, seen.modified):
            raise ChangedMeanwhile
    elif not stat.S_ISLNK(status.st_mode) or os.readlink(name, dir_fd=directory) != expected:
        raise ChangedMeanwhile


def _never_stop() -> None:
    return
