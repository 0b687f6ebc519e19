"""The state of a large tree, kept current by what the kernel reports instead of scans."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen, replace
from tejat.workspace.files.roots import Location
from tejat.workspace.files.system_calls import file_system_type
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.undo.digest_cache import DigestCache
from tejat.workspace.undo.live.inotify import Inotify, max_watches, mounts_beneath
from tejat.workspace.undo.snapshot import Snapshot
from tejat.workspace.undo.tree_state import (
    UNREADABLE,
    ExcludedDirectories,
    TooManyEntries,
    TreeScan,
    TreeState,
    Unwatched,
    copy_entry,
    entry_paths,
    excluded_directories,
    file_key_inode,
    is_gone,
    is_never_entered,
    remove_entry,
)

# Every file with other names, which may be elsewhere, is looked at each time.
_MAX_HARD_LINKS = 5000
_NOTHING_EXCLUDED = ExcludedDirectories((), ())
# File systems on which all changes come from this machine: ext, xfs, btrfs, tmpfs, ramfs, f2fs, zfs, bcachefs, overlay.
_LOCAL_FILE_SYSTEMS = frozenset(
    (0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x858458F6, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E, 0x794C7630)
)


RulesSignature = tuple[tuple[int, ...], ...]


class CurrentRules(Frozen):
    """Ignore rules, and what tells whether those of another time are the same, apart from `.gitignore` in the tree."""

    rules: IgnoreRules
    signature: RulesSignature


class LostTrack(Exception):
    """Changes may have been missed: the tree has to be scanned again."""


class CannotWatch(Exception):
    """The tree cannot be watched: no inotify, not enough watches, or a file system that does not report all changes."""


class TouchRecord:
    """The paths that may have changed since the record was opened, with their state at that time.

    `values` and `skip_reasons` are as in a snapshot.
    """

    __slots__ = ("before", "paths", "skip_reasons", "values")

    def __init__(self) -> None:
        self.before = TreeState()
        self.values: dict[str, bytes] = {}
        self.skip_reasons: dict[str, str] = {}
        self.paths: set[str] = set()


class _WatchedDirectory(Frozen):
    watch: int
    identity: tuple[int, int]


class LiveTree:
    """Everything beneath a root. `refresh` costs as much as has changed. Not safe for threads, except `collect_on`.

    `digests` knows the contents that are stored. `pending` are the files whose content may not be stored yet,
    by directory, and `skip_reasons` says of others why theirs is not.
    """

    def __init__(self, scan: TreeScan, digests: DigestCache, *, limit: int) -> None:
        """Raises CannotWatch."""
        self.pending: dict[str, None] = {}
        self.skip_reasons: dict[str, str] = {}
        self._scan = scan
        self._digests = digests
        self._limit = limit
        self._states: dict[str, TreeState] = {}
        self._watched: dict[str, _WatchedDirectory] = {}
        self._paths: dict[int, str] = {}
        self._unwatched: dict[str, tuple[int, int]] = {}
        self._carried: set[str] = set()
        self._hard_links: dict[str, int] = {}
        self._searched: set[tuple[bytes, int]] = set()
        self._records: list[TouchRecord] = []
        self._count = 0
        self._devices: set[int] = set()
        self._is_broken = False
        self.signature: RulesSignature | None = None
        self._mounts = mounts_beneath(scan.root.real_path)
        self._max_watches = max_watches()
        try:
            self._inotify = Inotify()
        except OSError as error:
            raise CannotWatch from error

    def __len__(self) -> int:
        return self._count

    def __contains__(self, directory: str) -> bool:
        """Whether a directory is known and entered."""
        return directory in self._states

    @property
    def is_broken(self) -> bool:
        """Whether the tree has to be built again."""
        return self._is_broken

    def close(self) -> None:
        """End the watch. The last state can still be read."""
        self._inotify.close()

    def build(self, stop: Callable[[], None], unwatched: Unwatched | None = None) -> None:
        """Scan everything; directories in `unwatched` are not entered, under any name.

        Raises CannotWatch, TooManyEntries, OSError, WorkspaceError and whatever `stop` raises.
        """
        self._scan_beneath("", excluded_directories(unwatched or {}), stop)
        self._searched = set(self._names_by_inode())
        if unwatched:
            self._carried = {path for path in self._unwatched if not self._scan.is_excluded(path)}

    def refresh(
        self, stop: Callable[[], None], *, rules: CurrentRules | None = None, paths: Iterable[str] = ()
    ) -> None:
        """Look at what has changed, and at `paths`.

        If the `rules` are new, ignored directories are looked at again. Without rules, while a call runs, directories
        that were not entered before stay so under any name. Raises LostTrack, CannotWatch, TooManyEntries and whatever
        `stop` raises; afterwards the tree has to be built again, and only records can be read.
        """
        if self._is_broken:
            raise LostTrack
        self._is_broken = True
        names = self._take_names()
        left_out = excluded_directories(self._unwatched) if rules is None else _NOTHING_EXCLUDED
        again: set[str] = set()
        if rules is not None:
            again |= self._carried
            if rules.signature != self.signature or any(".gitignore" in changed for changed in names.values()):
                self._scan = replace(self._scan, rules=rules.rules)
                self.signature = rules.signature
                again.update(path for path in self._unwatched if not is_never_entered(path))
        for path in (*self._hard_links, *again, *paths):
            names.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
        for directory in sorted(names):
            stop()
            self._update_names(directory, names[directory], left_out, stop)
        for path in self._find_other_names():
            self._update_names(os.path.dirname(path), (os.path.basename(path),), left_out, stop)
        new = self._unwatched.keys() - left_out.paths if rules is None else set[str]()
        self._carried = {path for path in new if not self._scan.is_excluded(path)}
        self._is_broken = False

    def _take_names(self) -> dict[str, set[str]]:
        """Return the names that the kernel has reported, by directory."""
        events = self._inotify.take()
        ended = {self._paths[watch] for watch in events.ended if watch in self._paths}
        if not events.is_complete or "" in ended or self._mounts != mounts_beneath(self._scan.root.real_path):
            raise LostTrack
        names: dict[str, set[str]] = {}
        for watch, changed in events.names.items():
            if (directory := self._paths.get(watch)) is not None:
                names.setdefault(directory, set()).update(map(os.fsdecode, changed))
        for directory in ended:
            del self._paths[self._watched.pop(directory).watch]
        return names

    def _find_other_names(self) -> list[str]:
        """Return other names of files that got another one: a change through one name is not reported for the rest."""
        known = self._names_by_inode()
        wanted = {mark[0] for mark, names in known.items() if len(names) < mark[1] and mark not in self._searched}
        self._searched = set(known)
        if not wanted:
            return []
        files = (item for state in self._states.values() for item in state.files.items())
        return [path for path, key in files if file_key_inode(key) in wanted and path not in self._hard_links]

    def _names_by_inode(self) -> dict[tuple[bytes, int], list[str]]:
        """Return the known names of each file that has several, with their number."""
        found: dict[tuple[bytes, int], list[str]] = {}
        for path, count in self._hard_links.items():
            key = self._states[os.path.dirname(path)].files[path]
            found.setdefault((file_key_inode(key), count), []).append(path)
        return found

    def settle(self, snapshot: Snapshot) -> None:
        """Take over what was found when the contents of files were read and stored."""
        for path, key in snapshot.state.files.items():
            state = self._states.get(path.rpartition("/")[0])
            if state is not None and path in state.files:
                state.files[path] = key
        self.skip_reasons.update(snapshot.skip_reasons)
        for path in self.pending.keys() & snapshot.state.files.keys():
            del self.pending[path]

    def open_record(self) -> TouchRecord:
        """Remember from now on what changes."""
        record = TouchRecord()
        self._records.append(record)
        return record

    def close_record(self, record: TouchRecord) -> None:
        if record in self._records:
            self._records.remove(record)

    def state_of(self, paths: Iterable[str]) -> TreeState:
        """Return the state of these paths only."""
        found = TreeState()
        for path in paths:
            state = self._states.get(path.rpartition("/")[0])
            if state is not None:
                copy_entry(path, state, found)
        return found

    def full_state(self) -> TreeState:
        whole = TreeState()
        for state in self._states.values():
            whole.files.update(state.files)
            whole.links.update(state.links)
            whole.directories.update(state.directories)
            whole.special_files.update(state.special_files)
            whole.unwatched.update(state.unwatched)
        return whole

    def snapshot_at(self, record: TouchRecord) -> Snapshot:
        """Return the whole tree as it was when a record was opened."""
        state = self.full_state()
        for path in record.paths:
            remove_entry(path, state)
            copy_entry(path, record.before, state)
        values = {path: self._digests.value_of(path, key) for path, key in state.files.items()} | record.values
        return Snapshot(self._scan.root.real_path, state, values, self.skip_reasons | record.skip_reasons)

    def collect_on(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Fetch events as they come, until the returned function is called: the queue of the kernel is short."""
        return self._inotify.collect_on(loop)

    def _update_names(
        self, directory: str, names: Iterable[str], left_out: ExcludedDirectories, stop: Callable[[], None]
    ) -> None:
        if directory not in self._states:
            return
        try:
            with self._scan.roots.open_directory(Location(self._scan.root, directory)) as opened:
                status = os.fstat(opened.fd)
                known = self._watched.get(directory)
                if known is not None and known.identity == (status.st_dev, status.st_ino):
                    for name in names:
                        self._update_entry(opened.fd, f"{directory}/{name}" if directory else name, left_out, stop)
                    return
        except (OSError, WorkspaceError) as error:
            if directory and not is_gone(error):
                above = self._states[os.path.dirname(directory)]
                self._touch(directory, above)
                self._drop(directory)
                above.unwatched[directory] = self._unwatched[directory] = UNREADABLE
                return
        if not directory:
            raise LostTrack
        # It was replaced a moment ago; the event may still be on its way.
        self._update_names(os.path.dirname(directory), (os.path.basename(directory),), left_out, stop)

    def _update_entry(self, opened: int, path: str, left_out: ExcludedDirectories, stop: Callable[[], None]) -> None:
        state = self._states[os.path.dirname(path)]
        self._touch(path, state)
        was_directory = path in state.directories
        before = len(state)
        remove_entry(path, state)
        self._unwatched.pop(path, None)
        self._hard_links.pop(path, None)
        is_entered = self._scan.scan_entry(opened, path, state, left_out)
        self._count += len(state) - before
        found = TreeState()
        copy_entry(path, state, found)
        self._add_marks(found, state.hard_links)
        if is_entered and was_directory and path in self._watched:
            status = os.stat(os.path.basename(path), dir_fd=opened, follow_symlinks=False)
            if self._watched[path].identity == (status.st_dev, status.st_ino):
                return
        if was_directory:
            self._drop(path)
        if is_entered:
            self._scan_beneath(path, left_out, stop)

    def _scan_beneath(self, top: str, left_out: ExcludedDirectories, stop: Callable[[], None]) -> None:
        """Scan a directory that is not known, and everything in it."""
        to_enter = [top]
        while to_enter:
            stop()
            directory = to_enter.pop()
            state = TreeState()
            try:
                with self._scan.roots.open_directory(Location(self._scan.root, directory)) as opened:
                    # Before it is read: what comes later is then reported.
                    self._watch(directory, opened.fd)
                    to_enter += self._scan.scan_directory(opened.fd, directory, state, left_out)
            except (OSError, WorkspaceError) as error:
                if not directory:
                    raise
                self._unwatch(directory)
                above = self._states[os.path.dirname(directory)]
                if is_gone(error):
                    above.directories.pop(directory, None)
                else:
                    above.unwatched[directory] = self._unwatched[directory] = UNREADABLE
                continue
            for record in self._records:
                record.paths.update(entry_paths(state))
            self._states[directory] = state
            self._count += len(state)
            self._add_marks(state, state.hard_links)
            if self._count > self._limit:
                raise TooManyEntries(self._limit)

    def _add_marks(self, found: TreeState, hard_links: Mapping[str, int]) -> None:
        self.pending.update(dict.fromkeys(self._digests.unknown(found.files)))
        self._unwatched |= found.unwatched
        self._hard_links.update(hard_links)
        if len(self._hard_links) > _MAX_HARD_LINKS:
            raise CannotWatch

    def _drop(self, top: str) -> None:
        """Forget a directory and everything in it."""
        dropped = [top]
        while dropped:
            directory = dropped.pop()
            self._unwatch(directory)
            state = self._states.pop(directory, None)
            if state is None:
                continue
            for path in entry_paths(state):
                self._touch(path, state)
                self._unwatched.pop(path, None)
            for path in state.hard_links:
                self._hard_links.pop(path, None)
            self._count -= len(state)
            dropped += state.directories

    def _touch(self, path: str, state: TreeState) -> None:
        """Note in all records that an entry is about to change."""
        for record in self._records:
            if path in record.paths:
                continue
            record.paths.add(path)
            copy_entry(path, state, record.before)
            if (key := state.files.get(path)) is not None:
                record.values[path] = self._digests.value_of(path, key)
                if path in self.skip_reasons:
                    record.skip_reasons[path] = self.skip_reasons[path]
        self.skip_reasons.pop(path, None)

    def _watch(self, directory: str, opened: int) -> None:
        status = os.fstat(opened)
        if status.st_dev not in self._devices:
            if file_system_type(opened) not in _LOCAL_FILE_SYSTEMS:
                raise CannotWatch
            self._devices.add(status.st_dev)
        if len(self._watched) >= self._max_watches:
            raise CannotWatch
        try:
            watch = self._inotify.watch(opened)
        except PermissionError:
            raise
        except OSError as error:
            raise CannotWatch from error
        # A renamed directory keeps its watch, which has another path now.
        self._paths[watch] = directory
        self._watched[directory] = _WatchedDirectory(watch, (status.st_dev, status.st_ino))

    def _unwatch(self, directory: str) -> None:
        known = self._watched.pop(directory, None)
        if known is not None and self._paths.get(known.watch) == directory:
            del self._paths[known.watch]
            self._inotify.unwatch(known.watch)
