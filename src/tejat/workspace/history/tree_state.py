"""What lies beneath a directory, seen by its metadata alone: quick enough to be done around every command."""

import os
import stat
import struct
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.beneath import Root
from tejat.workspace.ignore import Ignored, IgnoreRules
from tejat.workspace.roots import Location, Roots
from tejat.workspace.walk import NEVER_ENTERED

KEY_SIZE = 52

_KEY = struct.Struct("<IQQqqqII")
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "CVS"})
_NEVER_ENTERED = _VERSION_CONTROL | {name.decode() for name in NEVER_ENTERED}
_UNREADABLE = (-1, -1)
_TYPE = 0o170000
_ENTRIES_BETWEEN_STOPS = 2000

Unwatched = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class TreeState:
    """Everything beneath a root by its path from there.

    A file has a key, which changes whenever the file does; a link its target; a directory its mode and owner. What is
    `unwatched` is not looked into: version control, installed packages, what the ignore rules ignore, what cannot be
    read. It is known by device and inode.
    """

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    links: dict[str, str] = field(default_factory=dict[str, str])
    directories: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    others: dict[str, int] = field(default_factory=dict[str, int])
    unwatched: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    taken: int = field(default_factory=time.time_ns, compare=False)

    def __len__(self) -> int:
        return len(self.files) + len(self.links) + len(self.directories) + len(self.others) + len(self.unwatched)


class TooManyEntries(Exception):
    """There is more beneath the root than was to be looked at."""


@dataclass(frozen=True, slots=True)
class Scan:
    """How to look at a root.

    `hidden` are directories, by device and inode, that do not count at all. A directory in `unwatched` stays so under
    whatever name: what was moved out of there was not made by anybody.
    """

    roots: Roots
    root: Root
    rules: IgnoreRules
    hidden: Collection[tuple[int, int]] = ()

    def run(self, *, limit: int, stop: Callable[[], None], unwatched: Unwatched | None = None) -> TreeState:
        """The state of now. Links are not followed. Raises TooManyEntries, OSError and whatever `stop` raises."""
        state = TreeState()
        known = {*unwatched.values()} if unwatched else set[tuple[int, int]]()
        names = {*unwatched} if unwatched else set[str]()
        pending = [""]
        while pending:
            directory = pending.pop()
            stop()
            found = self._look_into(directory, state, known, names, stop)
            if found is None:
                state.directories.pop(directory, None)
                continue
            pending += found
            if len(state) > limit:
                raise TooManyEntries
        return state

    def _look_into(
        self,
        directory: str,
        state: TreeState,
        known: Collection[tuple[int, int]],
        names: Collection[str],
        stop: Callable[[], None],
    ) -> list[str] | None:
        """Add what is directly in a directory and return the directories to look into; None if it can't be read."""
        prefix = f"{directory}/" if directory else ""
        inner: list[str] = []
        try:
            with self.roots.open_directory(Location(self.root, directory)) as opened, os.scandir(opened.fd) as entries:
                for count, entry in enumerate(entries):
                    if not count % _ENTRIES_BETWEEN_STOPS:
                        stop()
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    mode = status.st_mode
                    path = prefix + entry.name
                    if mode & _TYPE == stat.S_IFREG:
                        # In a work tree elsewhere the place of the directory is taken by a file.
                        if entry.name != ".git":
                            state.files[path] = key_of(status)
                    elif mode & _TYPE == stat.S_IFDIR:
                        mark = (status.st_dev, status.st_ino)
                        if mark in self.hidden:
                            continue
                        if mark in known or path in names or self._is_left_out(entry.name, path):
                            state.unwatched[path] = mark
                        else:
                            state.directories[path] = (stat.S_IMODE(mode), status.st_uid, status.st_gid)
                            inner.append(path)
                    elif mode & _TYPE == stat.S_IFLNK:
                        state.links[path] = os.readlink(entry.name, dir_fd=opened.fd)
                    else:
                        state.others[path] = mode
        except (OSError, WorkspaceError) as error:
            if not _is_gone(error):
                state.unwatched[directory] = _UNREADABLE
            return None
        return inner

    def _is_left_out(self, name: str, path: str) -> bool:
        if name in _NEVER_ENTERED:
            return True
        return not self.rules.is_silent and self.rules.judge(path, is_directory=True) is not Ignored.NO


def _is_gone(error: OSError | WorkspaceError) -> bool:
    if isinstance(error, WorkspaceError):
        return error.error_type in (ErrorType.FILE_NOT_FOUND, ErrorType.PATH_IS_NOT_A_DIRECTORY)
    return isinstance(error, FileNotFoundError)


class Key(NamedTuple):
    """What a key is made of."""

    mode: int
    device: int
    inode: int
    size: int
    modified: int
    changed: int
    user: int
    group: int


def read_key(key: bytes) -> Key:
    return Key._make(_KEY.unpack_from(key))


def size_in(key: bytes) -> int:
    """Only the size, for those who have a hundred thousand keys."""
    return int.from_bytes(key[20:28], "little", signed=True)


def key_of(status: os.stat_result) -> bytes:
    """What changes whenever a file does, in `KEY_SIZE` bytes: mode, device, inode, size, both times, owner."""
    return _KEY.pack(
        status.st_mode,
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_uid,
        status.st_gid,
    )
