"""The state of a tree by metadata alone, fast enough to be taken around every command."""

import os
import stat
import struct
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import field, frozen
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES

FILE_KEY_SIZE = 52

_KEY = struct.Struct("<IQQqqqII")
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "CVS"})
_NEVER_ENTERED = _VERSION_CONTROL | {name.decode() for name in EXCLUDED_DIRECTORIES}
_UNREADABLE = (-1, -1)
_TYPE = 0o170000
_FILE = stat.S_IFREG

Unwatched = Mapping[str, tuple[int, int]]


@frozen
class TreeState:
    """Everything beneath a root by relative path.

    A file has a key, which changes whenever the file does; a link its target; a directory its mode and owner.
    `unwatched` directories are not entered: version control, installed packages, ignored ones. They are identified by
    device and inode. Unreadable directories are in both `unwatched` and `directories`.
    """

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    links: dict[str, str] = field(default_factory=dict[str, str])
    directories: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    special_files: dict[str, int] = field(default_factory=dict[str, int])
    unwatched: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    taken_at: int = field(default_factory=time.time_ns, compare=False)

    def __len__(self) -> int:
        return len(self.files) + len(self.links) + len(self.directories) + len(self.special_files) + len(self.unwatched)


class TooManyEntries(Exception):
    """There are more entries beneath the root than allowed."""


@frozen
class TreeScan:
    """The parameters of a scan.

    `hidden` are directories, by device and inode, that do not count at all. A directory in `unwatched` stays so under
    any name: files moved out of it were not created by the command.
    """

    roots: Roots
    root: RootDirectory
    rules: IgnoreRules
    hidden: Collection[tuple[int, int]] = ()

    def run(self, *, limit: int, stop: Callable[[], None], unwatched: Unwatched | None = None) -> TreeState:
        """Scan the current state without following links. Raises TooManyEntries, OSError and whatever `stop` raises."""
        state = TreeState()
        left_out = _Excluded({*unwatched.values()}, {*unwatched}) if unwatched else _Excluded(set(), set())
        pending = [""]
        while pending:
            stop()
            directory = pending.pop()
            try:
                with self.roots.open_directory(Location(self.root, directory)) as opened:
                    pending += self._scan_directory(opened.fd, directory, state, left_out)
            except (OSError, WorkspaceError) as error:
                if _is_gone(error):
                    state.directories.pop(directory, None)
                else:
                    state.unwatched[directory] = _UNREADABLE
            if len(state) > limit:
                raise TooManyEntries
        return state

    def _scan_directory(self, opened: int, directory: str, state: TreeState, left_out: "_Excluded") -> list[str]:
        """Add the entries of a directory and return the directories to enter."""
        prefix = f"{directory}/" if directory else ""
        inner: list[str] = []
        # This loop dominates the time in big trees: no avoidable calls.
        files, pack = state.files, _KEY.pack
        with os.scandir(opened) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                mode, inode, device, _, user, group, size, _, _, _ = status
                kind = mode & _TYPE
                name = entry.name
                path = prefix + name
                if kind == _FILE:
                    # In a linked working tree, `.git` is a file.
                    if name != ".git":
                        times = status.st_mtime_ns, status.st_ctime_ns
                        files[path] = pack(mode, device, inode, size, *times, user, group)
                elif kind == stat.S_IFDIR:
                    mark = (device, inode)
                    if mark in self.hidden:
                        continue
                    if mark in left_out.identities or path in left_out.paths or self._is_excluded(name, path):
                        state.unwatched[path] = mark
                    else:
                        state.directories[path] = (stat.S_IMODE(mode), user, group)
                        inner.append(path)
                elif kind == stat.S_IFLNK:
                    state.links[path] = os.readlink(name, dir_fd=opened)
                else:
                    state.special_files[path] = mode
        return inner

    def _is_excluded(self, name: str, path: str) -> bool:
        if name in _NEVER_ENTERED:
            return True
        return not self.rules.is_empty and self.rules.check(path, is_directory=True) is not IgnoreStatus.NOT_IGNORED


class _Excluded(NamedTuple):
    """Directories that were not entered before, and are not now, whatever their names."""

    identities: set[tuple[int, int]]
    paths: set[str]


def _is_gone(error: OSError | WorkspaceError) -> bool:
    if isinstance(error, WorkspaceError):
        return error.error_type in (ErrorType.FILE_NOT_FOUND, ErrorType.PATH_IS_NOT_A_DIRECTORY)
    return isinstance(error, FileNotFoundError)


class FileKey(NamedTuple):
    """The fields of a file key."""

    mode: int
    device: int
    inode: int
    size: int
    modified: int
    changed: int
    user: int
    group: int


def unpack_file_key(key: bytes) -> FileKey:
    return FileKey._make(_KEY.unpack_from(key))


def file_key_size(key: bytes) -> int:
    """Return only the file size, for callers with a hundred thousand keys."""
    return int.from_bytes(key[20:28], "little", signed=True)


def file_key_inode(key: bytes) -> bytes:
    """Return only device and inode, packed."""
    return key[4:20]


def pack_file_key(status: os.stat_result) -> bytes:
    """Pack the metadata that changes whenever a file does into FILE_KEY_SIZE bytes."""
    mode, inode, device, _, user, group, size, *_ = status
    return _KEY.pack(mode, device, inode, size, status.st_mtime_ns, status.st_ctime_ns, user, group)
