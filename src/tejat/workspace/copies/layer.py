"""Reads what a command changed in a copy from the layer that the kernel (overlayfs) put its changes into."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from tejat.core.undo import Node, NodeKind
from tejat.core.value import field, value
from tejat.core.words import say
from tejat.workspace.history.snapshot import in_words

LARGEST_FILE = 32 << 20
"""Bytes of a file that can be taken over from a copy."""

_MOST_NODES = 10_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20
_REPLACES = "user.overlay.opaque"
"""What marks a directory that hides the one below it."""


@value
class Layered:
    """What there is at each path after the command, None where it was removed; all paths are from the root.

    `contents` are the files that hold a content, by its digest. `obstacles` are in words: what cannot be taken over.
    """

    nodes: dict[str, Node | None] = field(default_factory=dict[str, Node | None])
    contents: dict[bytes, str] = field(default_factory=dict[bytes, str])
    obstacles: list[str] = field(default_factory=list[str])


class TooManyChanges(Exception):
    """More than could be shown to anybody."""


def read_layer(upper: str, root: str, *, stop: Callable[[], None]) -> Layered:
    """What the layer says about the root. Nothing may still run in the copy.

    Paths that only were copied up and are what they were are among them. Raises OSError, TooManyChanges, and whatever
    `stop` raises.
    """
    found = Layered()
    pending = [""]
    while pending:
        stop()
        directory = pending.pop()
        try:
            entries = os.listdir(os.path.join(upper, directory))
        except PermissionError:
            found.obstacles.append(_unreadable(root, directory))
            continue
        for name in entries:
            path = f"{directory}/{name}" if directory else name
            source = os.path.join(upper, path)
            status = os.lstat(source)
            _add(found, path, source, status, root)
            is_directory = stat.S_ISDIR(status.st_mode)
            if is_directory:
                pending.append(path)
            if not is_directory or _hides(source):
                # What was below it is gone, but for what the layer has again.
                for lost in _everything_in(os.path.join(root, path)):
                    found.nodes.setdefault(f"{path}/{lost}", None)
                    _check_number(found)
            _check_number(found)
    return found


def _check_number(found: Layered) -> None:
    if len(found.nodes) > _MOST_NODES:
        raise TooManyChanges


def _add(found: Layered, path: str, source: str, status: os.stat_result, root: str) -> None:
    permissions, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFCHR if status.st_rdev == 0:
            found.nodes[path] = None
        case stat.S_IFDIR:
            found.nodes[path] = Node(NodeKind.DIRECTORY, permissions=permissions, owner=owner)
        case stat.S_IFLNK:
            found.nodes[path] = Node(NodeKind.LINK, target=os.readlink(source))
        case stat.S_IFREG if status.st_size <= LARGEST_FILE:
            try:
                digest = _digest_of_file(source)
            except PermissionError:
                found.obstacles.append(_unreadable(root, path))
                return
            found.contents[digest] = source
            found.nodes[path] = Node(
                NodeKind.FILE, permissions=permissions, size=status.st_size, digest=digest, owner=owner
            )
        case stat.S_IFREG:
            size = in_words(status.st_size)
            found.obstacles.append(
                say("{path} is too large to be kept ({size}).", path=os.path.join(root, path), size=size)
            )
        case _:
            told = say("{path} is a pipe, socket or device, which cannot be kept.", path=os.path.join(root, path))
            found.obstacles.append(told)


def _unreadable(root: str, path: str) -> str:
    return say("{path} cannot be read, so it cannot be shown.", path=os.path.join(root, path))


def _digest_of_file(path: str) -> bytes:
    """Raises OSError."""
    hashed = hashlib.sha256()
    with open(path, "rb", buffering=0, opener=lambda path, _: os.open(path, _OPEN)) as file:
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
    return hashed.digest()


def _hides(directory: str) -> bool:
    try:
        return os.getxattr(directory, _REPLACES, follow_symlinks=False) == b"y"
    except OSError:
        return False


def _everything_in(directory: str) -> Iterator[str]:
    """Every path below a directory, from there; nothing where it is none. Links are not followed."""
    if os.path.islink(directory) or not os.path.isdir(directory):
        return
    for parent, directories, files in os.walk(directory):
        inner = os.path.relpath(parent, directory)
        for name in (*directories, *files):
            yield name if inner == "." else f"{inner}/{name}"
