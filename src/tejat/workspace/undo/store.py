"""The undo store of a project on disk: contents, digests and entries, within a size limit."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.undo import UndoEntry
from tejat.workspace.files.file_lock import LockTimeout
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.attribution.call_window import open_window, read_windows
from tejat.workspace.undo.attribution.foreign_changes import CallTimes, find_foreign_changes, mark_contested
from tejat.workspace.undo.attribution.named_paths import named_paths
from tejat.workspace.undo.attribution.related_stores import RelatedStores
from tejat.workspace.undo.comparison import Comparison
from tejat.workspace.undo.content_store import ContentStore, sha256_digest
from tejat.workspace.undo.digest_cache import DigestCache, load_saved_digests
from tejat.workspace.undo.entry_file import EntryFile, entry_digests
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.snapshot import Snapshot, SnapshotBudget, format_size, take_snapshot
from tejat.workspace.undo.tree_state import TreeState
from tejat.workspace.undo.warning_log import read_warnings, write_warnings

# Pruning frees more than necessary, so that it does not happen with every call.
_FILL_RATIO = 0.9
_MAX_ENTRIES = 1000

Stop = Callable[[], None]
_Result = TypeVar("_Result")


class RecordedCall(Frozen):
    """What is recorded of a call besides its changes.

    `started` is when the files were looked at first, in seconds since the epoch. The changes of an `is_exact` call are
    certainly its own: only files that it changes itself were compared. Otherwise `times` and the `arguments` tell the
    changes of others from its own.
    """

    tool: str
    summary: str
    started: float
    is_exact: bool = True
    arguments: object = None
    times: CallTimes | None = None
    undoes: str | None = None
    session: str = ""
    call: str = ""
    unit: str = ""


class UndoStore:
    """Safe for several processes, not for several threads. Raises OSError. Creates nothing on disk until necessary."""

    def __init__(
        self,
        directory: str,
        *,
        limit: int,
        file_limit: int,
        warn: Callable[[str], None],
        store_of: Callable[[str], str] | None = None,
    ) -> None:
        """`store_of` returns where the store of the project in a directory would be."""
        self.directory = PrivateDirectory(directory)
        self._related = None if store_of is None else RelatedStores(self.directory, store_of)
        self._store = ContentStore(self.directory)
        self._entries = EntryFile(self.directory)
        self._digest_caches: dict[str, DigestCache] = {}
        self._limit = limit
        self._file_limit = file_limit
        self._warn = warn
        self._generation = -1
        self._failed_reservation: tuple[int, int] | None = None

    def entries(self) -> list[UndoEntry]:
        """Return the entries, oldest first, with what calls at the same time make doubtful."""
        own = self._entries.read()
        others, windows = ([], []) if self._related is None else self._related.read(own)
        return mark_contested(own, others, [*read_windows(self.directory), *windows])

    def open_window(self) -> AbstractContextManager[None]:
        """Show to other processes that a call is running, for the block."""
        return open_window(self.directory, self._entries.read)

    def read_content(self, digest: bytes) -> bytes | None:
        """Return a content, None if it is not stored."""
        return self._store.read(digest)

    def open_reader(self) -> AbstractContextManager[Callable[[bytes], bytes | None]]:
        """Return `read_content` for many contents, for the block."""
        return self._store.open_reader()

    def has_content(self, digest: bytes) -> bool:
        return digest in self._store

    def is_loaded(self, roots: Sequence[str]) -> bool:
        """Whether `load` has nothing to do, or nothing to wait for."""
        if not self.directory.exists():
            self.load(roots, never_stop)
        return all(root in self._digest_caches for root in roots) and self._store.is_current()

    def load(self, roots: Sequence[str], stop: Stop) -> None:
        """Load the state on disk."""
        missing = [root for root in roots if root not in self._digest_caches]
        if not missing and self._store.is_current():
            return
        if not self.directory.exists():
            self._digest_caches |= {root: DigestCache(self.directory, root) for root in missing}
            return
        with self.directory.lock(stop):
            self._refresh()
            for root in missing:
                known = self._digest_caches[root] = DigestCache(self.directory, root)
                known.load()
                known.retain(self._store.digests)

    def is_uncertain(self, root: RootDirectory, state: TreeState) -> bool:
        """Whether a file may have changed without a visible change."""
        return self._digest_caches[root.real_path].is_uncertain(state.files)

    def digests_of(self, root: RootDirectory) -> DigestCache:
        """Return the digests of a root that is loaded."""
        return self._digest_caches[root.real_path]

    def cached_snapshot(self, root: RootDirectory, state: TreeState) -> Snapshot | None:
        """Return the snapshot of a state if no file has to be read for it."""
        files, unknown = self._digest_caches[root.real_path].lookup(state.files)
        return None if unknown else Snapshot(root.real_path, state, files)

    def snapshot(
        self, root: RootDirectory, state: TreeState, stop: Stop, *, recognise: bool = False, is_exact: bool = False
    ) -> Snapshot:
        """Take the snapshot of a state; new contents are read and stored. `stop` may raise at any time.

        With `recognise`, which takes longer, no space is reserved for contents that are stored under another name. With
        `is_exact` the files are certainly about to change, so even large ones are stored.
        """
        known = self._digest_caches[root.real_path]
        budget = SnapshotBudget(
            file_limit=max(self._file_limit, self._limit // 2) if is_exact else self._file_limit,
            reserve=lambda needed: self._reserve(needed, stop),
            store=lambda contents: self._store_contents(contents, stop),
            stop=stop,
            is_stored=self._store.__contains__ if recognise else None,
        )
        snapshot = take_snapshot(root, state, known, budget)
        with self.directory.lock(stop):
            _save_quietly(known)
        return snapshot

    def snapshot_without_storing(self, root: RootDirectory, state: TreeState, stop: Stop) -> Snapshot:
        """Take a snapshot without storing contents."""
        nothing_known = DigestCache(self.directory, root.real_path)
        budget = SnapshotBudget(self._file_limit, reserve=lambda needed: needed, store=lambda _: None, stop=stop)
        return take_snapshot(root, state, nothing_known, budget)

    def record(self, recorded: "RecordedCall", comparisons: Sequence[Comparison], stop: Stop) -> UndoEntry | None:
        """Add a durable entry; return None if nothing happened."""
        changes = tuple(change for comparison in comparisons for change in comparison.changes)
        skipped = tuple(remark for comparison in comparisons for remark in comparison.skipped)
        for change in changes:
            if change.after is None and change.root in self._digest_caches:
                self._digest_caches[change.root].discard((change.path,))
        with self.directory.lock(stop):
            for known in self._digest_caches.values():
                _save_quietly(known)
            if not changes and not skipped:
                return None
            entry = UndoEntry(
                id=self._random_id(),
                time=time.time(),
                tool=recorded.tool,
                summary=recorded.summary,
                changes=changes,
                skipped=skipped,
                undoes=recorded.undoes,
                session=recorded.session,
                call=recorded.call,
                unit=recorded.unit,
                started=recorded.started,
                named=("/",) if recorded.is_exact else named_paths(changes, recorded.arguments),
            )
            if recorded.times is not None:
                entry = replace(entry, foreign=find_foreign_changes(changes, recorded.times, entry.named))
            self._store.flush()
            self._entries.append(entry)
            if len(self._entries.ids()) > _MAX_ENTRIES:
                self._entries.drop_oldest(_MAX_ENTRIES // 10)
            return entry

    def add_contents(self, contents: Iterable[bytes], stop: Stop) -> None:
        """Store contents that are on no disk."""
        by_digest = {sha256_digest(content): content for content in contents}
        self._reserve(sum(map(len, by_digest.values())), stop)
        self._store_contents(by_digest, stop)

    def warnings(self) -> list[str]:
        """Return recent problems with storing, oldest first."""
        return read_warnings(self.directory)

    def write_warnings(self, texts: Sequence[str]) -> None:
        with self.directory.lock(never_stop):
            write_warnings(self.directory, texts)

    def room(self) -> int:
        """Return how many bytes can be added before something has to be dropped."""
        return self._limit - self.directory.size()

    @property
    def is_full(self) -> bool:
        """Whether there was no room for something in this process."""
        return self._failed_reservation is not None

    def flush(self) -> None:
        self._store.flush()

    def _random_id(self) -> str:
        taken = self._entries.ids()
        while (drawn := os.urandom(3).hex()) in taken:
            pass
        return drawn

    def _store_contents(self, contents: Mapping[bytes, bytes], stop: Stop) -> None:
        with self.directory.lock(stop):
            self._refresh()
            self._store.add(contents)

    def _refresh(self) -> None:
        """Drop cached digests whose contents another process has removed."""
        self._store.refresh()
        if self._store.generation != self._generation:
            self._generation = self._store.generation
            for known in self._digest_caches.values():
                known.retain(self._store.digests)

    def _reserve(self, needed: int, stop: Stop) -> int:
        free = self.room()
        if free >= needed or self._failed_reservation == (needed, free):
            return max(free, 0)
        with self.directory.lock(stop):
            self._refresh()
            self._prune_entries(needed, stop)
            free = max(self.room(), 0)
        if free < needed:
            self._failed_reservation = (needed, free)
            message = lazy(
                "Undo storage is full ({limit}): {needed} more needed.",
                limit=format_size(self._limit),
                needed=format_size(needed),
            )
            self._warn(message)
        return free

    def _prune_entries(self, needed: int, stop: Stop) -> None:
        """Keep the current contents, and as many of the latest entries as fit beside them and `needed`."""
        live = load_saved_digests(self.directory).union(*(known.digests() for known in self._digest_caches.values()))
        wanted = min(needed, self._limit // 2)
        used = sum(map(self._store.stored_size, live)) + wanted
        entries = self._entries.read()
        kept = 0
        for entry in reversed(entries):
            more = entry_digests(entry) - live
            used += sum(map(self._store.stored_size, more))
            if used > _FILL_RATIO * self._limit:
                break
            live |= more
            kept += 1
        if kept < len(entries):
            dropped = len(entries) - kept
            self._entries.drop_oldest(dropped)
            warning = lazy(
                "Undo storage is full: the oldest calls ({dropped}) can no longer be undone.", dropped=dropped
            )
            self._warn(warning)
        self._store.compact(live, stop, goal=self.directory.size() + wanted - int(_FILL_RATIO * self._limit))
        self._refresh()


def try_twice(work: Callable[[], _Result]) -> _Result:
    """Do some work with the store, and again if it fails: the first failure may have passed. Raises OSError."""
    try:
        return work()
    except LockTimeout:
        raise
    except OSError:
        return work()


def _save_quietly(known: DigestCache) -> None:
    """Save a cache of digests. Without it they are only computed again."""
    with suppress(OSError):
        known.save()
