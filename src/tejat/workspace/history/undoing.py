"""Puts an entry of the journal back, and makes that an entry too."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import Enum, auto
from itertools import groupby

from tejat.core.errors import UsageError
from tejat.core.undo import Change, Entry, Remark, Restored
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.workspace.beneath import Root
from tejat.workspace.history.archive import Archive
from tejat.workspace.history.changes import compare
from tejat.workspace.history.restoration import Plan, Restoration, clean_up, plan
from tejat.workspace.history.snapshot import Snapshot, look_at
from tejat.workspace.history.watch import missing_above
from tejat.workspace.roots import Roots


class Extent(Enum):
    NOTHING = auto()
    """Only say what would be done."""
    ALL_OR_NOTHING = auto()
    WHAT_IS_UNCHANGED = auto()


def put_back(archive: Archive, roots: Roots, entry: Entry, extent: Extent) -> Restored:
    """Put back what the entry's call did. Raises OSError when the journal cannot be read or written."""
    later = _changed_later(archive, entry)
    with ExitStack() as closing:
        parts: list[_Part] = []
        refused: list[Remark] = []
        archive.open(sorted({change.root for change in entry.changes}), _never_stop)
        for path, group in groupby(sorted(entry.changes, key=_root_of), key=_root_of):
            changes = tuple(group)
            root = _open(path, roots, closing)
            if root is None:
                refused += [
                    Remark(change.full_path, phrase("there is no directory {path}", path=path)) for change in changes
                ]
                continue
            part = _part(archive, root, changes, extent)
            parts.append(part)
            refused += [_naming(remark, later) for remark in part.plan.refused]
        if extent is Extent.NOTHING:
            wanted = tuple(change.full_path for part in parts for change in part.plan.changes)
            return Restored(wanted, tuple(refused))
        if refused and extent is Extent.ALL_OR_NOTHING:
            return Restored(refused=tuple(refused))
        return _carry_out(archive, entry, parts, refused)


@value
class _Part:
    """What concerns one root. `paths` is all that may change, directories that have to be made included."""

    root: Root
    paths: tuple[str, ...]
    current: Snapshot
    plan: Plan


def _part(archive: Archive, root: Root, changes: Sequence[Change], extent: Extent) -> _Part:
    own = [change.path for change in changes]
    paths = tuple({*own, *missing_above(root, own)})
    state = look_at(root, paths)
    if extent is Extent.NOTHING:
        current = archive.observe(root, state, _never_stop)
    else:
        clean_up(root, own)
        current = archive.snapshot(root, state, _never_stop, recognise=True)
    return _Part(root, paths, current, plan(changes, current, is_kept=archive.is_kept))


def _carry_out(archive: Archive, entry: Entry, parts: Sequence[_Part], refused: Sequence[Remark]) -> Restored:
    # What is about to be replaced must last before it goes.
    archive.flush()
    outcomes = [Restoration(part.root, part.plan.changes, part.current, archive.read).run() for part in parts]
    comparisons = [
        compare(
            part.current,
            archive.snapshot(part.root, look_at(part.root, part.paths), _never_stop, recognise=True),
        )
        for part in parts
    ]
    problems = (*refused, *(remark for outcome in outcomes for remark in outcome.failed))
    what = f"put back {'what could be of ' if problems else ''}{entry.id}: {entry.what}"
    recorded = archive.record(
        comparisons, tool="undo", what=what, undoes=None if problems else entry.id, stop=_never_stop
    )
    return Restored(
        restored=tuple(path for outcome in outcomes for path in outcome.done),
        refused=problems,
        left=tuple(remark for outcome in outcomes for remark in outcome.left),
        entry_id=None if recorded is None else recorded.id,
    )


def _open(path: str, roots: Roots, closing: ExitStack) -> Root | None:
    known = next((root for root in roots.directories if root.real_path == path), None)
    if known is not None:
        return known
    try:
        return closing.enter_context(Roots([path])).first
    except UsageError:
        return None


def _changed_later(archive: Archive, entry: Entry) -> Mapping[str, str]:
    """For each path the newest entry after this one that changed it."""
    entries = archive.entries()
    newer = entries[[other.id for other in entries].index(entry.id) + 1 :]
    return {change.full_path: other.id for other in newer for change in other.changes}


def _naming(remark: Remark, later: Mapping[str, str]) -> Remark:
    newer = later.get(remark.path)
    return (
        remark
        if newer is None
        else Remark(remark.path, phrase("{why} (by {newer}, undo that first)", why=remark.why, newer=newer))
    )


def _root_of(change: Change) -> str:
    return change.root


def _never_stop() -> None:
    return
