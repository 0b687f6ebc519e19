"""Changes during a call that another program made, or may have made."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.undo import ChangeKind, ForeignChange, PathChange, UndoEntry
from tejat.workspace.undo.attribution.activity import Activity
from tejat.workspace.undo.attribution.call_window import CallWindow
from tejat.workspace.undo.attribution.named_paths import is_named

# Times of files lag behind the clock by a tick.
_TICK = 20_000_000
_SHORT_SECONDS = 3.0
"""A change by somebody else just while a command runs so shortly is too unlikely to doubt everything."""


class CallTimes(Frozen):
    """The times of a call, in nanoseconds since the epoch.

    The files were looked at from `seen_before` on, the call ran from `started` to `ended`, and the files were looked at
    again until `seen_after`. `activity` is when it really ran.
    """

    seen_before: int
    started: int
    ended: int
    seen_after: int
    activity: Activity


def find_foreign_changes(
    changes: Iterable[PathChange], times: CallTimes, named: Collection[str]
) -> tuple[ForeignChange, ...]:
    """Compare when paths changed with when the call ran.

    What was created or removed under a name that the call names is its own, even if others did it for the call, such as
    a service that it talks to. Raises nothing.
    """
    clock = _ChangeClock()
    named = frozenset(named)
    found = (_judge(change, clock.change_time(change), times, named) for change in changes)
    return tuple(foreign for foreign in found if foreign is not None)


def mark_contested(
    entries: Sequence[UndoEntry], others: Sequence[UndoEntry], windows: Sequence[CallWindow]
) -> list[UndoEntry]:
    """Return the entries with what overlapping entries, `others` included, and calls without one make doubtful."""
    together = sorted((*entries, *others), key=lambda entry: entry.time)
    marked: dict[int, UndoEntry] = {}
    for index, entry in enumerate(together):
        added = () if entry.started is None else _contested(entry, _overlapping(together, index), windows)
        if added:
            foreign = {change.path: change for change in (*entry.foreign, *added)}
            marked[id(entry)] = replace(entry, foreign=tuple(foreign.values()))
    return [marked.get(id(entry), entry) for entry in entries]


def _judge(change: PathChange, changed: int | None, times: CallTimes, named: Collection[str]) -> ForeignChange | None:
    # An older time proves nothing: files keep theirs when a directory is renamed, and clocks may disagree.
    if changed is not None and not times.seen_before <= changed <= times.seen_after + _TICK:
        changed = None
    path = change.full_path
    if changed is not None and changed < times.started - _TICK:
        return ForeignChange(path, lazy("changed before the call started"), is_proven=True)
    if changed is not None and changed > times.ended + _TICK:
        return ForeignChange(path, lazy("changed after the call ended"), is_proven=True)
    if change.kind in (ChangeKind.CREATED, ChangeKind.REMOVED) and is_named(path, named):
        return None
    if changed is not None and not times.activity.covers(changed, slack=_TICK):
        return ForeignChange(path, lazy("changed while the call was waiting"), is_proven=True)
    seconds = times.activity.seconds
    if seconds <= _SHORT_SECONDS:
        return None
    reason = lazy(
        "changed while the call was running ({seconds} seconds), possibly by another program", seconds=round(seconds)
    )
    return ForeignChange(path, reason, is_proven=False)


class _ChangeClock:
    """The times at which paths were changed last, in nanoseconds since the epoch."""

    def __init__(self) -> None:
        self._directories: dict[str, int | None] = {}

    def change_time(self, change: PathChange) -> int | None:
        """Return the time, None if it is unknown. A removal is a change of the directory."""
        if change.after is None:
            return self._removal_time(os.path.dirname(change.full_path))
        try:
            return os.lstat(change.full_path).st_ctime_ns
        except OSError:
            return None

    def _removal_time(self, directory: str) -> int | None:
        if directory not in self._directories:
            try:
                self._directories[directory] = os.lstat(directory).st_mtime_ns
            except FileNotFoundError:
                self._directories[directory] = self._removal_time(os.path.dirname(directory))
            except OSError:
                self._directories[directory] = None
        return self._directories[directory]


def _overlapping(entries: Sequence[UndoEntry], index: int) -> list[UndoEntry]:
    """Return the entries of calls that ran at the same time. Entries are in the order in which their calls ended."""
    entry = entries[index]
    assert entry.started is not None
    found: list[UndoEntry] = []
    for other in reversed(entries[:index]):
        if other.time < entry.started:
            break
        found.append(other)
    found += [other for other in entries[index + 1 :] if other.started is not None and other.started <= entry.time]
    return found


def _contested(
    entry: UndoEntry, others: Sequence[UndoEntry], windows: Sequence[CallWindow]
) -> tuple[ForeignChange, ...]:
    """A path that several calls changed belongs to the one that names it; if all or none do, nobody knows."""
    is_beside_unknown = any(window.overlaps(entry) for window in windows)
    if not others and not is_beside_unknown:
        return ()
    claims, named = _claims(others), frozenset(entry.named)
    known = {foreign.path: foreign for foreign in entry.foreign}
    found: list[ForeignChange] = []
    for change in entry.changes:
        path = change.full_path
        if (path in known and known[path].is_proven) or is_named(path, named):
            continue
        if path in claims:
            other, is_other_named = claims[path]
            reason = lazy("changed by {entry} at the same time", entry=other.id)
            found.append(ForeignChange(path, reason, is_proven=is_other_named))
        elif is_beside_unknown and path not in known:
            reason = lazy("changed while another call was running here")
            found.append(ForeignChange(path, reason, is_proven=False))
    return tuple(found)


def _claims(entries: Iterable[UndoEntry]) -> Mapping[str, tuple[UndoEntry, bool]]:
    """Return for each changed path an entry that claims it, and whether that one names it."""
    found: dict[str, tuple[UndoEntry, bool]] = {}
    for entry in entries:
        named = frozenset(entry.named)
        for change in entry.own_changes:
            path = change.full_path
            if not found.get(path, (entry, False))[1]:
                found[path] = entry, is_named(path, named)
    return found
