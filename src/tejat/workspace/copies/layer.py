"""Reads what a command changed in a copy from the layer that the kernel (overlayfs) put its changes into."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from tejat.core.undo import Node, NodeKind
from tejat.core.value import field, value

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

    `contents` are the files that hold a content, by its digest. `untold` are paths whose change cannot be taken over.
    """

    nodes: dict[str, Node | None] = field(default_factory=dict[str, Node | None])
    contents: dict[bytes, str] = field(default_factory=dict[bytes, str])
    untold: dict[str, "Untold"] = field(default_factory=dict[str, "Untold"])


class TooManyChanges(Exception):
    """More than could be shown to anybody."""


@value
class Untold:
    """Something in a layer that is too large (then `size` says how large), or no file, link or directory."""

    size: int | None


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
        with os.scandir(os.path.join(upper, directory)) as entries:
            for entry in entries:
                path = f"{directory}/{entry.name}" if directory else entry.name
                status = entry.stat(follow_symlinks=False)
                _add(found, path, entry.path, status)
                is_directory = stat.S_ISDIR(status.st_mode)
                if is_directory:
                    pending.append(path)
                if not is_directory or _hides(entry.path):
                    # What was below it is gone, but for what the layer has again.
                    for lost in _everything_in(os.path.join(root, path)):
                        found.nodes.setdefault(f"{path}/{lost}", None)
                if len(found.nodes) > _MOST_NODES:
                    raise TooManyChanges
    return found


def _add(found: Layered, path: str, source: str, status: os.stat_result) -> None:
    permissions, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFCHR if status.st_rdev == 0:
            found.nodes[path] = None
        case stat.S_IFDIR:
            found.nodes[path] = Node(NodeKind.DIRECTORY, permissions=permissions, owner=owner)
        case stat.S_IFLNK:
            found.nodes[path] = Node(NodeKind.LINK, target=os.readlink(source))
        case stat.S_IFREG if status.st_size <= LARGEST_FILE:
            digest = digest_of_file(source)
            found.contents[digest] = source
            found.nodes[path] = Node(
                NodeKind.FILE, permissions=permissions, size=status.st_size, digest=digest, owner=owner
            )
        case kind:
            found.untold[path] = Untold(status.st_size if kind == stat.S_IFREG else None)


def digest_of_file(path: str) -> bytes:
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
