"""Reading a command's changes from the upper layer of an overlay mount."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from tejat.core.frozen import Frozen, field
from tejat.core.i18n import _
from tejat.core.undo import PathKind, PathState
from tejat.workspace.undo.snapshot import format_size

MAX_FILE_SIZE = 32 << 20
"""Size of the largest file that can be applied from a copy."""

_MAX_NODES = 10_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OPAQUE_XATTR = "user.overlay.opaque"
"""Marks a directory that hides the one below it."""


class LayerChanges(Frozen):
    """The state of each changed path after the command, None if it was removed; paths are relative to the root.

    `contents` maps digests to files with that content. `blockers` are the reasons why changes cannot be applied.
    """

    nodes: dict[str, PathState | None] = field(default_factory=dict[str, PathState | None])
    contents: dict[bytes, str] = field(default_factory=dict[bytes, str])
    blockers: list[str] = field(default_factory=list[str])


class TooManyChanges(Exception):
    """More changes than can be shown."""


def read_upper_layer(upper: str, root: str, *, stop: Callable[[], None]) -> LayerChanges:
    """Read the changes to the root. No process may still run in the copy.

    Includes paths that were only copied up and are unchanged. Raises OSError, TooManyChanges, and whatever `stop`
    raises.
    """
    found = LayerChanges()
    pending = [""]
    while pending:
        stop()
        directory = pending.pop()
        try:
            entries = os.listdir(os.path.join(upper, directory))
        except PermissionError:
            found.blockers.append(_unreadable(root, directory))
            continue
        for name in entries:
            path = f"{directory}/{name}" if directory else name
            source = os.path.join(upper, path)
            status = os.lstat(source)
            _add_entry(found, path, source, status, root)
            is_directory = stat.S_ISDIR(status.st_mode)
            if is_directory:
                pending.append(path)
            if not is_directory or _is_opaque(source):
                # Everything below it is gone, except what the layer contains itself.
                for lost in _list_tree(os.path.join(root, path)):
                    found.nodes.setdefault(f"{path}/{lost}", None)
                    _check_limit(found)
            _check_limit(found)
    return found


def _check_limit(found: LayerChanges) -> None:
    if len(found.nodes) > _MAX_NODES:
        raise TooManyChanges


def _add_entry(found: LayerChanges, path: str, source: str, status: os.stat_result, root: str) -> None:
    permissions, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    full_path = os.path.join(root, path)
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFCHR if status.st_rdev == 0:
            found.nodes[path] = None
        case stat.S_IFDIR:
            found.nodes[path] = PathState(PathKind.DIRECTORY, permissions=permissions, owner=owner)
        case stat.S_IFLNK:
            found.nodes[path] = PathState(PathKind.LINK, target=os.readlink(source))
        case stat.S_IFREG if status.st_size <= MAX_FILE_SIZE:
            try:
                digest = _hash_file(source)
            except PermissionError:
                found.blockers.append(_unreadable(root, path))
                return
            found.contents[digest] = source
            found.nodes[path] = PathState(
                PathKind.FILE, permissions=permissions, size=status.st_size, digest=digest, owner=owner
            )
        case stat.S_IFREG:
            size = format_size(status.st_size)
            found.blockers.append(_("{path} is too large to keep ({size}).", path=full_path, size=size))
        case _:
            message = _("{path} is a pipe, socket or device and cannot be kept.", path=full_path)
            found.blockers.append(message)


def _unreadable(root: str, path: str) -> str:
    return _("{path} cannot be read, so its change cannot be shown.", path=os.path.join(root, path))


def _hash_file(path: str) -> bytes:
    """Return the SHA-256 of a file. Raises OSError."""
    with open(path, "rb", buffering=0, opener=lambda path, _: os.open(path, _OPEN)) as file:
        return hashlib.file_digest(file, "sha256").digest()


def _is_opaque(directory: str) -> bool:
    try:
        return os.getxattr(directory, _OPAQUE_XATTR, follow_symlinks=False) == b"y"
    except OSError:
        return False


def _list_tree(directory: str) -> Iterator[str]:
    """Yield every path below a directory, relative to it. Links are not followed."""
    if os.path.islink(directory) or not os.path.isdir(directory):
        return
    for parent, directories, files in os.walk(directory):
        inner = os.path.relpath(parent, directory)
        for name in (*directories, *files):
            yield name if inner == "." else f"{inner}/{name}"
