"""The state of a tree by metadata alone, fast enough to be taken around every command."""

import os
import stat
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen, field
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES

FILE_KEY_SIZE = 52
UNREADABLE = (-1, -1)
"""Stands for the identity of a directory that could not be read."""

_KEY = struct.Struct("<IQQqqqII")
_TIMES, _TIMES_OFFSET = struct.Struct("<qq"), 28
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "CVS"})
_NEVER_ENTERED = _VERSION_CONTROL | {name.decode() for name in EXCLUDED_DIRECTORIES}
_TYPE = 0o170000
_FILE = stat.S_IFREG

Unwatched = Mapping[str, tuple[int, int]]


class TreeState(Frozen):
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
    hard_links: dict[str, int] = field(default_factory=dict[str, int], compare=False)
    """How many names a file has, if it has several. Some may be elsewhere."""
    taken_at: int = field(default_factory=time.time_ns, compare=False)

    def __len__(self) -> int:
        return len(self.files) + len(self.links) + len(self.directories) + len(self.special_files) + len(self.unwatched)


def entry_paths(state: TreeState) -> Iterator[str]:
    """Yield the paths in a state, unreadable directories twice."""
    yield from state.files
    yield from state.links
    yield from state.directories
    yield from state.special_files
    yield from state.unwatched


def copy_entry(path: str, source: TreeState, target: TreeState) -> None:
    """Copy what is at a path, if there is anything."""
    key = source.files.get(path)
    if key is not None:
        target.files[path] = key
        return
    if path in source.links:
        target.links[path] = source.links[path]
    elif path in source.special_files:
        target.special_files[path] = source.special_files[path]
    if path in source.directories:
        target.directories[path] = source.directories[path]
    if path in source.unwatched:
        target.unwatched[path] = source.unwatched[path]


def remove_entry(path: str, state: TreeState) -> None:
    """Remove what is at a path, if there is anything."""
    for entries in (state.files, state.links, state.directories, state.special_files, state.unwatched):
        entries.pop(path, None)
    state.hard_links.pop(path, None)


class TooManyEntries(Exception):
    """There are more entries beneath the root than allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class TreeScan(Frozen):
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
        left_out = excluded_directories(unwatched or {})
        pending = [""]
        while pending:
            stop()
            directory = pending.pop()
            try:
                with self.roots.open_directory(Location(self.root, directory)) as opened:
                    pending += self.scan_directory(opened.fd, directory, state, left_out)
            except (OSError, WorkspaceError) as error:
                if is_gone(error):
                    state.directories.pop(directory, None)
                else:
                    state.unwatched[directory] = UNREADABLE
            if len(state) > limit:
                raise TooManyEntries(limit)
        return state

    def scan_directory(
        self, opened: int, directory: str, state: TreeState, left_out: "ExcludedDirectories"
    ) -> list[str]:
        """Add the entries of an open directory and return the directories to enter. Raises OSError."""
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
                mode, inode, device, names, user, group, size, _, _, _ = status
                name = entry.name
                path = prefix + name
                if mode & _TYPE != _FILE:
                    if self._add_other(opened, path, status, state, left_out):
                        inner.append(path)
                # In a linked working tree, `.git` is a file.
                elif name != ".git":
                    times = status.st_mtime_ns, status.st_ctime_ns
                    files[path] = pack(mode, device, inode, size, *times, user, group)
                    if names > 1:
                        state.hard_links[path] = names
        return inner

    def scan_entry(self, opened: int, path: str, state: TreeState, left_out: "ExcludedDirectories") -> bool:
        """Add one entry of an open directory, if it exists; return whether it is a directory to enter.

        Raises OSError.
        """
        name = os.path.basename(path)
        try:
            status = os.stat(name, dir_fd=opened, follow_symlinks=False)
            if status.st_mode & _TYPE != _FILE:
                return self._add_other(opened, path, status, state, left_out)
        except FileNotFoundError:
            return False
        if name != ".git":
            state.files[path] = pack_file_key(status)
            if status.st_nlink > 1:
                state.hard_links[path] = status.st_nlink
        return False

    def _add_other(
        self, opened: int, path: str, status: os.stat_result, state: TreeState, left_out: "ExcludedDirectories"
    ) -> bool:
        """Add what is no file; return whether it is a directory to enter."""
        match status.st_mode & _TYPE:
            case stat.S_IFDIR:
                mark = (status.st_dev, status.st_ino)
                if mark in self.hidden:
                    return False
                if mark in left_out.identities or path in left_out.paths or self.is_excluded(path):
                    state.unwatched[path] = mark
                    return False
                state.directories[path] = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid)
                return True
            case stat.S_IFLNK:
                state.links[path] = os.readlink(os.path.basename(path), dir_fd=opened)
            case _:
                state.special_files[path] = status.st_mode
        return False

    def is_excluded(self, path: str) -> bool:
        """Whether a directory is not entered because of its name or an ignore rule."""
        if is_never_entered(path):
            return True
        return not self.rules.is_empty and self.rules.check(path, is_directory=True) is not IgnoreStatus.NOT_IGNORED


def is_never_entered(path: str) -> bool:
    """Whether a directory is not entered because of its name."""
    return os.path.basename(path) in _NEVER_ENTERED


class ExcludedDirectories(NamedTuple):
    """Directories that were not entered before, and are not now, whatever their names."""

    identities: Collection[tuple[int, int]]
    paths: Collection[str]


def excluded_directories(unwatched: Unwatched) -> ExcludedDirectories:
    return ExcludedDirectories({*unwatched.values()}, {*unwatched})


def is_gone(error: OSError | WorkspaceError) -> bool:
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


def file_key_times(key: bytes) -> tuple[int, int]:
    """Return only when the file was modified and changed."""
    return _TIMES.unpack_from(key, _TIMES_OFFSET)


def file_key_inode(key: bytes) -> bytes:
    """Return only device and inode, packed."""
    return key[4:20]


def pack_file_key(status: os.stat_result) -> bytes:
    """Pack the metadata that changes whenever a file does into FILE_KEY_SIZE bytes."""
    mode, inode, device, _, user, group, size, _, _, _ = status
    return _KEY.pack(mode, device, inode, size, status.st_mtime_ns, status.st_ctime_ns, user, group)
