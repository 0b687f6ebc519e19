"""Reverting an undo entry, which is recorded as an entry itself."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import Enum, auto
from itertools import groupby

from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import lazy
from tejat.core.undo import PathChange, PathProblem, RestoreResult, UndoEntry
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.roots import Roots
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.comparison import compare_snapshots
from tejat.workspace.undo.restoration import Restoration, RestorePlan, plan_restore, remove_stale_files
from tejat.workspace.undo.snapshot import Snapshot, scan_paths
from tejat.workspace.undo.store import UndoStore
from tejat.workspace.undo.watch import missing_parents


class RevertMode(Enum):
    DRY_RUN = auto()
    """Only report what would be done."""
    ALL_OR_NOTHING = auto()
    SKIP_CONFLICTS = auto()


def revert_entry(store: UndoStore, roots: Roots, entry: UndoEntry, mode: RevertMode) -> RestoreResult:
    """Revert the changes of an entry. Raises OSError if the undo store cannot be read or written."""
    later = _later_changes(store, entry)
    with ExitStack() as closing:
        parts: list[_RootPlan] = []
        refused: list[PathProblem] = []
        store.load(sorted({change.root for change in entry.changes}), never_stop)
        for path, group in groupby(sorted(entry.changes, key=_root_of), key=_root_of):
            changes = tuple(group)
            root = _open(path, roots, closing)
            if root is None:
                why = lazy("there is no directory {path}", path=path)
                refused += [PathProblem(change.full_path, why) for change in changes]
                continue
            part = _plan_root(store, root, changes, mode)
            parts.append(part)
            refused += [_name_later_entry(remark, later) for remark in part.plan.refused]
        if mode is RevertMode.DRY_RUN:
            wanted = tuple(change.full_path for part in parts for change in part.plan.changes)
            return RestoreResult(wanted, tuple(refused))
        if refused and mode is RevertMode.ALL_OR_NOTHING:
            return RestoreResult(refused=tuple(refused))
        return _execute(store, entry, parts, refused)


@frozen
class _RootPlan:
    """The part for one root. `paths` is everything that may change, including directories to create."""

    root: RootDirectory
    paths: tuple[str, ...]
    current: Snapshot
    plan: RestorePlan


def _plan_root(store: UndoStore, root: RootDirectory, changes: Sequence[PathChange], mode: RevertMode) -> _RootPlan:
    own = [change.path for change in changes]
    paths = tuple({*own, *missing_parents(root, own)})
    state = scan_paths(root, paths)
    if mode is RevertMode.DRY_RUN:
        current = store.snapshot_without_storing(root, state, never_stop)
    else:
        remove_stale_files(root, own)
        current = store.snapshot(root, state, never_stop, recognise=True)
    return _RootPlan(root, paths, current, plan_restore(changes, current, is_kept=store.has_content))


def _execute(
    store: UndoStore, entry: UndoEntry, parts: Sequence[_RootPlan], refused: Sequence[PathProblem]
) -> RestoreResult:
    # Contents must be durable before they are replaced.
    store.flush()
    outcomes = [Restoration(part.root, part.plan.changes, part.current, store.read_content).run() for part in parts]
    comparisons = [
        compare_snapshots(
            part.current, store.snapshot(part.root, scan_paths(part.root, part.paths), never_stop, recognise=True)
        )
        for part in parts
    ]
    problems = (*refused, *(remark for outcome in outcomes for remark in outcome.failed))
    what = f"put back {'what could be of ' if problems else ''}{entry.id}: {entry.summary}"
    recorded = store.record(comparisons, tool="undo", what=what, undoes=None if problems else entry.id, stop=never_stop)
    return RestoreResult(
        restored=tuple(path for outcome in outcomes for path in outcome.restored),
        refused=problems,
        left_in_place=tuple(remark for outcome in outcomes for remark in outcome.remaining),
        entry_id=None if recorded is None else recorded.id,
    )


def _open(path: str, roots: Roots, closing: ExitStack) -> RootDirectory | None:
    for root in roots.directories:
        if root.real_path == path:
            return root
    try:
        return closing.enter_context(Roots([path])).first
    except UsageError:
        return None


def _later_changes(store: UndoStore, entry: UndoEntry) -> Mapping[str, str]:
    """Return for each path the latest entry after this one that changed it."""
    entries = store.entries()
    newer = entries[[other.id for other in entries].index(entry.id) + 1 :]
    return {change.full_path: other.id for other in newer for change in other.changes}


def _name_later_entry(remark: PathProblem, later: Mapping[str, str]) -> PathProblem:
    newer = later.get(remark.path)
    if newer is None:
        return remark
    return PathProblem(remark.path, lazy("{why} (by {newer}, undo that first)", why=remark.reason, newer=newer))


def _root_of(change: PathChange) -> str:
    return change.root
