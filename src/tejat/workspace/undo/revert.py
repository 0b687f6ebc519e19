"""Reverting an undo entry, which is recorded as an entry itself."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, lazy
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.core.undo import ForeignChange, PathChange, PathProblem, RestoreResult, RestoreScope, UndoEntry
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.roots import Roots
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.comparison import compare_snapshots
from tejat.workspace.undo.restoration import Restoration, RestorePlan, plan_restore, remove_stale_files
from tejat.workspace.undo.snapshot import Snapshot, scan_paths
from tejat.workspace.undo.store import RecordedCall, UndoStore, try_twice
from tejat.workspace.undo.watch import missing_parents


def revert_entry(
    store: UndoStore, roots: Roots, entry: UndoEntry, scope: RestoreScope, *, dry_run: bool = False
) -> RestoreResult:
    """Revert the changes of an entry, or only report what would be done.

    Raises UsageError if the scope names a path that the entry does not change, OSError if the undo store cannot be read
    or written; then nothing was reverted.
    """
    later = _later_changes(store, entry)
    selected, left_out = _select(entry, scope)
    with ExitStack() as closing:
        parts: list[_RootPlan] = []
        refused: list[PathProblem] = []
        store.load(sorted({change.root for change in selected}), never_stop)
        for path, group in groupby(sorted(selected, key=_root_of), key=_root_of):
            changes = tuple(group)
            root = _open(path, roots, closing)
            if root is None:
                why = lazy("no directory {path}", path=path)
                refused += [PathProblem(change.full_path, why) for change in changes]
                continue
            part = _plan_root(store, root, changes, dry_run=dry_run)
            parts.append(part)
            refused += [_name_later_entry(remark, later) for remark in part.plan.refused]
        result = RestoreResult(refused=tuple(refused), left_out=left_out, lost=entry.skipped)
        if dry_run:
            return replace(result, restored=tuple(change.full_path for part in parts for change in part.plan.changes))
        if refused and not scope.partial:
            return result
        return _execute(store, entry, parts, result, is_whole=not scope.paths)


def _select(entry: UndoEntry, scope: RestoreScope) -> tuple[Sequence[PathChange], tuple[ForeignChange, ...]]:
    """Return the changes to revert, and the foreign ones that are left out."""
    if scope.foreign:
        return entry.changes, ()
    if not scope.paths:
        return entry.own_changes, entry.foreign
    paths = [change.full_path for change in entry.changes]
    for named in scope.paths:
        if not any(is_beneath(path, named) for path in paths):
            raise UsageError(_("{entry} did not change {path}", entry=entry.id, path=named))
    return [change for change in entry.changes if is_beneath_any(change.full_path, scope.paths)], ()


class _RootPlan(Frozen):
    """The part for one root. `paths` is everything that may change, including directories to create."""

    root: RootDirectory
    paths: tuple[str, ...]
    current: Snapshot
    plan: RestorePlan


def _plan_root(store: UndoStore, root: RootDirectory, changes: Sequence[PathChange], *, dry_run: bool) -> _RootPlan:
    own = [change.path for change in changes]
    paths = tuple({*own, *missing_parents(root, own)})
    state = scan_paths(root, paths)
    if dry_run:
        current = store.snapshot_without_storing(root, state, never_stop)
    else:
        remove_stale_files(root, own)
        current = store.snapshot(root, state, never_stop, recognise=True, is_exact=True)
    return _RootPlan(root, paths, current, plan_restore(changes, current, is_kept=store.has_content))


def _execute(
    store: UndoStore, entry: UndoEntry, parts: Sequence[_RootPlan], planned: RestoreResult, *, is_whole: bool
) -> RestoreResult:
    # Contents must be durable before they are replaced.
    store.flush()
    started = time.time()
    with store.open_reader() as read:
        outcomes = [Restoration(part.root, part.plan.changes, part.current, read).run() for part in parts]
    result = replace(
        planned,
        restored=tuple(path for outcome in outcomes for path in outcome.restored),
        refused=(*planned.refused, *(remark for outcome in outcomes for remark in outcome.failed)),
        left_in_place=tuple(remark for outcome in outcomes for remark in outcome.remaining),
    )
    what = f"restored {'part of ' if result.refused else ''}{entry.id}: {entry.summary}"
    undoes = entry.id if is_whole and not result.refused else None
    call = RecordedCall(tool="undo", summary=what, started=started, undoes=undoes)

    def record() -> UndoEntry | None:
        comparisons = [compare_snapshots(part.current, _snapshot_after(store, part)) for part in parts]
        return store.record(call, comparisons, never_stop)

    try:
        recorded = try_twice(record)
    except OSError as error:
        return replace(result, unrecorded=error.strerror or str(error))
    return replace(result, entry_id=None if recorded is None else recorded.id)


def _snapshot_after(store: UndoStore, part: _RootPlan) -> Snapshot:
    return store.snapshot(part.root, scan_paths(part.root, part.paths), never_stop, recognise=True, is_exact=True)


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
    entries, last = store.entries(), entry.parts[0].id if entry.parts else entry.id
    newer = entries[[other.id for other in entries].index(last) + 1 :]
    return {change.full_path: other.id for other in newer for change in other.changes}


def _name_later_entry(remark: PathProblem, later: Mapping[str, str]) -> PathProblem:
    newer = later.get(remark.path)
    if newer is None:
        return remark
    return PathProblem(remark.path, lazy("{why} (by {newer}; undo that first)", why=remark.reason, newer=newer))


def _root_of(change: PathChange) -> str:
    return change.root
