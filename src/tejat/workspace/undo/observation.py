"""The state of files before a call, and what has become of it after."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from threading import Lock

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen
from tejat.workspace.paths.git_repository import find_git_repository
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.comparison import Comparison, compare_snapshots
from tejat.workspace.undo.live.live_tree import (
    CannotWatch,
    CurrentRules,
    LiveTree,
    LostTrack,
    RulesSignature,
    TouchRecord,
)
from tejat.workspace.undo.live.prefetch import LARGE_TREE
from tejat.workspace.undo.snapshot import Snapshot
from tejat.workspace.undo.store import Stop, UndoStore
from tejat.workspace.undo.tree_state import TooManyEntries, TreeState, file_key_size
from tejat.workspace.undo.watch import PathWatch, TreeWatch, Watch

_SMALL_TREE = 200  # entries that are faster to read in place than in a thread
_PREFETCHED_FILES = 1000  # that are stored while other calls wait
_MAX_SCANNED = 300_000
_MAX_ENTRIES = 1_500_000


class ScanObservation(Frozen):
    """A snapshot of what is watched, to be compared with another one."""

    watch: Watch
    before: Snapshot
    store: UndoStore
    is_exact: bool

    def is_unchanged(self) -> bool:
        """Whether certainly nothing has changed. Only small trees are looked at. Raises TooManyEntries."""
        if len(self.before.state) > _SMALL_TREE:
            return False
        state = self.watch.scan_state(limit=2 * _SMALL_TREE, stop=never_stop, before=self.before.state)
        return state == self.before.state and not self.store.is_uncertain(self.watch.root, state)

    def compare(self, stop: Stop, paths: Collection[str]) -> tuple[Comparison, Snapshot] | None:
        """Return the changes and the state now, None if nothing has changed. Raises OSError, TooManyEntries."""
        state = self.watch.scan_state(limit=2 * _MAX_SCANNED, stop=stop, before=self.before.state)
        if state == self.before.state and not self.store.is_uncertain(self.watch.root, state):
            return None
        after = self.store.snapshot(self.watch.root, state, stop, is_exact=self.is_exact)
        return compare_snapshots(self.before, after), after

    def close(self) -> None:
        return


class LiveObservation:
    """A record of what changes in a large tree."""

    def __init__(self, observer: "TreeObserver", watch: TreeWatch, tree: LiveTree) -> None:
        self._observer = observer
        self._watch = watch
        self._tree = tree
        self._record: TouchRecord = tree.open_record()

    def is_unchanged(self) -> bool:
        return False

    def compare(self, stop: Stop, paths: Collection[str]) -> tuple[Comparison, Snapshot] | None:
        """Return the changes and the state of what changed, and of `paths`; None if nothing has changed.

        Raises OSError, TooManyEntries.
        """
        tree, record, root = self._tree, self._record, self._watch.root
        prefix = f"{root.real_path.rstrip('/')}/"
        relatives = (path.removeprefix(prefix) for path in paths if path.startswith(prefix))
        try:
            tree.refresh(stop, paths=[path for path in relatives if os.path.dirname(path) in tree])
        except (LostTrack, CannotWatch):
            before = tree.snapshot_at(record)
            after = self._observer.scan_again(self._watch, before.state, stop)
        else:
            before = Snapshot(root.real_path, record.before, record.values, record.skip_reasons)
            state = tree.state_of(record.paths)
            if state == before.state and not self._observer.store.is_uncertain(root, state):
                return None
            after = self._observer.store.snapshot(root, state, stop)
            tree.settle(after)
        return compare_snapshots(before, after), after

    def close(self) -> None:
        self._tree.close_record(self._record)


Observation = ScanObservation | LiveObservation


class TreeObserver:
    """Observes what is watched. Large trees are kept current by events where the system reports all changes.

    Not safe for threads.
    """

    def __init__(self, store: UndoStore) -> None:
        self.store = store
        self._trees: dict[str, LiveTree] = {}
        self._cannot_watch: set[str] = set()
        self._too_large: dict[str, int] = {}
        self._is_small = True
        self._must_build = False

    @property
    def is_small(self) -> bool:
        """Whether everything was small the last time."""
        return self._is_small

    @property
    def trees(self) -> list[LiveTree]:
        """The trees that are kept current."""
        return list(self._trees.values())

    def close(self) -> None:
        """Stop watching."""
        for tree in self._trees.values():
            tree.close()
        self._trees.clear()

    def forget_trees(self) -> None:
        """Build all trees again the next time: what belongs to them has changed. Safe for threads."""
        self._must_build = True

    def observe_inline(self, watches: Sequence[Watch], *, is_exact: bool) -> list[Observation] | None:
        """Observe small trees whose contents are all stored, otherwise return None."""
        if any(isinstance(watch, PathWatch) and len(watch.paths) > _SMALL_TREE for watch in watches):
            return None
        if not self.store.is_loaded([watch.root.real_path for watch in watches]):
            return None
        taken: list[Observation] = []
        try:
            for watch in watches:
                state = watch.scan_state(limit=_SMALL_TREE, stop=never_stop)
                snapshot = self.store.cached_snapshot(watch.root, state)
                if snapshot is None:
                    return None
                taken.append(ScanObservation(watch, snapshot, self.store, is_exact))
        except TooManyEntries:
            self._is_small = False
            return None
        return taken

    def observe(self, watches: Sequence[Watch], stop: Stop, *, is_exact: bool) -> list[Observation]:
        """Observe what is watched, and store its contents.

        Raises TooManyEntries, at once if a tree was found to be too large, OSError, and whatever `stop` raises.
        """
        if self._must_build:
            self._must_build = False
            self.close()
        for watch in watches:
            if isinstance(watch, TreeWatch) and watch.root.real_path in self._too_large:
                raise TooManyEntries(self._too_large[watch.root.real_path])
        self.store.load([watch.root.real_path for watch in watches], stop)
        return [
            self._observe_tree(watch, stop)
            if isinstance(watch, TreeWatch)
            else self._scan(watch, stop, limit=_MAX_SCANNED, is_exact=is_exact)
            for watch in watches
        ]

    def prefetch(self, watches: Sequence[Watch], stop: Stop, lock: Lock) -> None:
        """Do what the first `observe` of large trees does, in steps that hold the lock; other calls come in between.

        Raises OSError, and whatever `stop` raises.
        """
        for watch in watches:
            if isinstance(watch, TreeWatch):
                tree = self._prefetch_tree(watch, stop, lock)
                if tree is not None:
                    self._prefetch_contents(watch, tree, stop, lock)

    def scan_again(self, watch: TreeWatch, before: TreeState, stop: Stop) -> Snapshot:
        """Return the present state of a whole tree after track of it was lost. Raises OSError, TooManyEntries."""
        tree = self._trees.get(watch.root.real_path)
        if tree is not None and tree.is_broken:
            self._discard(watch)
            tree = None
        if tree is not None:
            try:
                tree.refresh(stop)
                return self._store_pending(watch, tree, stop, tree.full_state())
            except (LostTrack, CannotWatch):
                self._discard(watch)
        try:
            tree = self._build(watch, stop, before)
        except CannotWatch:
            state = watch.scan_state(limit=2 * _MAX_SCANNED, stop=stop, before=before)
            return self.store.snapshot(watch.root, state, stop)
        return self._store_pending(watch, tree, stop, tree.full_state())

    def _observe_tree(self, watch: TreeWatch, stop: Stop) -> Observation:
        root = watch.root.real_path
        tree = self._trees.get(root)
        if tree is not None:
            try:
                tree.refresh(stop, rules=CurrentRules(watch.scan.rules, _rules_signature(root)))
                return self._observe_live(watch, tree, stop)
            except LostTrack:
                self._discard(watch)
            except CannotWatch:
                self._discard(watch)
                self._cannot_watch.add(root)
        try:
            if root not in self._cannot_watch:
                return self._scan(watch, stop, limit=LARGE_TREE)
        except TooManyEntries:
            try:
                return self._observe_live(watch, self._build(watch, stop), stop)
            except CannotWatch:
                self._cannot_watch.add(root)
            except TooManyEntries:
                self._too_large[root] = _MAX_ENTRIES
                raise
        try:
            return self._scan(watch, stop, limit=_MAX_SCANNED)
        except TooManyEntries as error:
            self._too_large[root] = error.limit
            raise

    def _prefetch_tree(self, watch: TreeWatch, stop: Stop, lock: Lock) -> LiveTree | None:
        """Scan and watch a large tree that nothing is known of yet."""
        root = watch.root.real_path
        with suppress(TooManyEntries):
            watch.scan_state(limit=LARGE_TREE, stop=stop)
            return None
        with lock:
            if self._must_build or root in self._trees:
                return None
            self.store.load([root], stop)
        tree: LiveTree | None = None
        try:
            tree = self._open_tree(watch, stop)
        except CannotWatch:
            self._cannot_watch.add(root)
        except TooManyEntries:
            self._too_large[root] = _MAX_ENTRIES
        with lock:
            if tree is None or self._must_build or root in self._trees:
                if tree is not None:
                    tree.close()
                return None
            self._is_small = False
            self._trees[root] = tree
            return tree

    def _prefetch_contents(self, watch: TreeWatch, tree: LiveTree, stop: Stop, lock: Lock) -> None:
        """Store the contents of a tree, those of small files first if there is no room for all."""
        paths, sizes = list(tree.pending), list[int]()
        for start in range(0, len(paths), _PREFETCHED_FILES):
            stop()
            some = paths[start : start + _PREFETCHED_FILES]
            sizes += map(file_key_size, tree.state_of(some).files.values())
        if sum(sizes) > self.store.room():
            paths = [path for _, path in sorted(zip(sizes, paths, strict=True))]
        start = 0
        while start < len(paths):
            stop()
            with lock:
                if self._trees.get(watch.root.real_path) is not tree:
                    return
                # Of those that are left when the room is used up, none is read.
                end = len(paths) if self.store.is_full else start + _PREFETCHED_FILES
                self._store_pending(watch, tree, stop, tree.state_of(paths[start:end]))
            start = end

    def _scan(self, watch: Watch, stop: Stop, *, limit: int, is_exact: bool = False) -> ScanObservation:
        state = watch.scan_state(limit=limit, stop=stop)
        if isinstance(watch, TreeWatch):
            self._is_small = len(state) <= _SMALL_TREE
        return ScanObservation(
            watch, self.store.snapshot(watch.root, state, stop, is_exact=is_exact), self.store, is_exact
        )

    def _build(self, watch: TreeWatch, stop: Stop, before: TreeState | None = None) -> LiveTree:
        """Scan a tree and watch it. Raises CannotWatch, TooManyEntries, OSError."""
        tree = self._open_tree(watch, stop, before)
        self._is_small = False
        self._trees[watch.root.real_path] = tree
        return tree

    def _open_tree(self, watch: TreeWatch, stop: Stop, before: TreeState | None = None) -> LiveTree:
        root = watch.root.real_path
        tree = LiveTree(watch.scan, self.store.digests_of(watch.root), limit=2 * _MAX_ENTRIES)
        try:
            signature = _rules_signature(root)
            tree.build(stop, None if before is None else before.unwatched)
            tree.signature = signature
            if before is None and len(tree) > _MAX_ENTRIES:
                raise TooManyEntries(_MAX_ENTRIES)
        except WorkspaceError as error:
            tree.close()
            raise OSError(None, str(error)) from error
        except BaseException:
            tree.close()
            raise
        return tree

    def _observe_live(self, watch: TreeWatch, tree: LiveTree, stop: Stop) -> LiveObservation:
        digests = self.store.digests_of(watch.root)
        paths = tree.pending.keys() | digests.uncertain_paths() | digests.take_lost()
        self._store_pending(watch, tree, stop, tree.state_of(paths))
        tree.pending.clear()
        return LiveObservation(self, watch, tree)

    def _store_pending(self, watch: TreeWatch, tree: LiveTree, stop: Stop, state: TreeState) -> Snapshot:
        """Store contents that are not stored yet. If that fails, the tree is built again the next time."""
        if not state.files:
            return Snapshot(watch.root.real_path, state, {})
        try:
            snapshot = self.store.snapshot(watch.root, state, stop)
        except BaseException:
            self._discard(watch)
            raise
        tree.settle(snapshot)
        return snapshot

    def _discard(self, watch: TreeWatch) -> None:
        tree = self._trees.pop(watch.root.real_path, None)
        if tree is not None:
            tree.close()


def _rules_signature(root: str) -> RulesSignature:
    """Return what changes when ignore rules do that come from outside the tree, or when git tracks other files."""
    files: list[str] = [f"{root}/.geminiignore"]
    repository = find_git_repository(root)
    if repository is not None:
        files += [repository.index_path, repository.exclude_path, repository.user_excludes_path or ""]
        directory: str = root
        while directory != repository.work_tree and directory != "/":
            directory = os.path.dirname(directory)
            files.append(f"{directory}/.gitignore")
    return tuple(_stat_marks(file) for file in files)


def _stat_marks(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
