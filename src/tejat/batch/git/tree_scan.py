"""The tree that an agent left, made safe for git: nested repositories are hidden, and nothing in it can block."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.workspace.downloads.placement import move_tree

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Larger files are not in patches: git holds a file and its difference in memory."""
# Git opens these whatever they are, and a named pipe would block it.
_READ_BY_GIT = frozenset({b".gitignore", b".gitattributes", b".gitmodules"})


class ScannedTree(Frozen):
    """Paths relative to the tree: nested repositories, files too large for a patch, and special files."""

    repositories: tuple[bytes, ...] = ()
    large_files: tuple[bytes, ...] = ()
    special_files: tuple[bytes, ...] = ()
    unreadable: tuple[bytes, ...] = ()


class HiddenRepositories:
    """The `.git` entries of nested repositories, moved away from git."""

    def __init__(self, aside: str) -> None:
        self._aside = aside
        self._moved: list[tuple[str, str]] = []

    def hide(self, path: str) -> None:
        """Move an entry away. Raises OSError."""
        os.makedirs(self._aside, mode=0o700, exist_ok=True)
        target = os.path.join(self._aside, os.urandom(8).hex())
        move_tree(path, target)
        self._moved.append((target, path))

    def restore(self) -> None:
        """Move all back, inner ones last. What cannot be moved stays away."""
        while self._moved:
            target, path = self._moved.pop()
            with suppress(OSError):
                move_tree(target, path)


def scan_tree(tree: str, hidden: HiddenRepositories, stop: Callable[[], None]) -> ScannedTree:
    """Look at everything in a tree, hide nested repositories, and remove pipes that git would open.

    Links are not followed. Raises OSError if a nested repository cannot be hidden.
    """
    root = os.fsencode(tree)
    found: dict[str, list[bytes]] = {"repositories": [], "large_files": [], "special_files": [], "unreadable": []}
    waiting = [b""]
    while waiting:
        stop()
        parent = waiting.pop()
        try:
            with os.scandir(os.path.join(root, parent)) as entries:
                listed = list(entries)
        except OSError:
            found["unreadable"].append(parent)
            continue
        for entry in listed:
            path = os.path.join(parent, entry.name)
            if entry.name.lower() == b".git":
                if parent:
                    _hide(os.fsdecode(entry.path), hidden)
                    found["repositories"].append(parent)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif not entry.is_symlink():
                _sort_file(entry, path, found)
    return ScannedTree(**{name: tuple(sorted(paths)) for name, paths in found.items()})


def _hide(path: str, hidden: HiddenRepositories) -> None:
    try:
        hidden.hide(path)
    except PermissionError:
        # A directory that moves needs its own permissions, too.
        for locked in (os.path.dirname(path), path):
            if not os.path.islink(locked) and os.path.isdir(locked):
                os.chmod(locked, 0o700)
        hidden.hide(path)


def _sort_file(entry: os.DirEntry[bytes], path: bytes, found: dict[str, list[bytes]]) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if not stat.S_ISREG(status.st_mode):
        found["special_files"].append(path)
        if entry.name.lower() in _READ_BY_GIT:
            with suppress(OSError):
                os.unlink(entry.path)
    elif status.st_size > MAX_FILE_BYTES:
        found["large_files"].append(path)
