"""Values of the undo log: file changes of calls, and the results of restoring them."""

import stat
from collections.abc import Iterable, Sequence
from typing import Protocol

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen, Value
from tejat.core.messages.types import JsonObject
from tejat.core.text.digest import sha256
from tejat.core.text.str_enum import StrEnum

UNIT_TOOL = "invoke_agent"
"""The tool of the entry for a whole run of a sub-agent."""
_UNIT_ID_LENGTH = 8
"""Longer than the ids of calls, so that the two never meet."""


class PathKind(StrEnum):
    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"


class PathState(Frozen):
    """The state of a path at one moment.

    A file has an `identity`, by which an unmodified file is recognized, and, if its content is stored, a `digest`, its
    SHA-256. A link has a `target`.
    """

    kind: PathKind
    permissions: int = 0
    size: int = 0
    digest: bytes | None = None
    identity: bytes | None = None
    target: str | None = None
    owner: tuple[int, int] = (0, 0)

    def matches(self, other: "PathState") -> bool:
        """Whether all that is restored is equal: kind, permissions, content, target."""
        if self.kind is not other.kind or self.target != other.target or self.permissions != other.permissions:
            return False
        return self.kind is not PathKind.FILE or self.has_same_content(other)

    def has_same_content(self, other: "PathState") -> bool:
        """Whether both are files with the same content, as far as known."""
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return self.identity is not None and self.identity == other.identity


class ChangeKind(StrEnum):
    CREATED = "created"
    REMOVED = "removed"
    CHANGED = "changed"
    PERMISSIONS = "permissions changed"


class PathChange(Value):
    """The change of one path, relative to the directory `root`. None means that it did not exist."""

    root: str
    path: str
    before: PathState | None
    after: PathState | None

    @property
    def full_path(self) -> str:
        return f"{self.root.rstrip('/')}/{self.path}"

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return ChangeKind.CREATED
        if self.after is None:
            return ChangeKind.REMOVED
        if self.before.kind is not self.after.kind or self.before.target != self.after.target:
            return ChangeKind.CHANGED
        if self.before.kind is PathKind.FILE and not self.before.has_same_content(self.after):
            return ChangeKind.CHANGED
        return ChangeKind.PERMISSIONS


class PathProblem(Frozen):
    """A path that could not be stored, restored or removed, and the reason."""

    path: str
    reason: str


class ForeignChange(Frozen):
    """A change during a call that another program may have made, and the reason to think so.

    `is_proven`: the call cannot have made it.
    """

    path: str
    reason: str
    is_proven: bool


class UndoEntry(Frozen):
    """The changes of one call. `skipped` changes cannot be undone, `foreign` ones are left out unless they are named.

    `started` and `time` are the begin and the end of the call, in seconds since the epoch. `named` are the paths that
    the call names, directories with all that is in them. `undoes` is the entry that this one restored, `undone_by` the
    one that restored this one and is in force. `session` and `call` are the ids of the session and the call. `unit` is
    the run of a sub-agent that the call belongs to, empty for none; `call` is then the one that started the run. All
    entries of such a run are undone as one entry, which has them as its `parts`, newest first.
    """

    id: str
    time: float
    tool: str
    summary: str
    changes: tuple[PathChange, ...]
    skipped: tuple[PathProblem, ...] = ()
    undoes: str | None = None
    undone_by: str | None = None
    session: str = ""
    call: str = ""
    started: float | None = None
    named: tuple[str, ...] = ()
    foreign: tuple[ForeignChange, ...] = ()
    unit: str = ""
    parts: "tuple[UndoEntry, ...]" = ()

    @property
    def unit_id(self) -> str:
        """The id of the entry for the whole run of the sub-agent, empty if the call belongs to none."""
        return unit_entry_id(self.session, self.unit) if self.unit else ""

    @property
    def own_changes(self) -> tuple[PathChange, ...]:
        """The changes without the foreign ones."""
        foreign = {change.path for change in self.foreign}
        return tuple(change for change in self.changes if change.full_path not in foreign) if foreign else self.changes

    def to_json(self) -> JsonObject:
        """The entry as JSON; only one of a sub-agent has `agent`, and only a whole run `calls`."""
        agent = {"agent": self.unit} if self.unit else {}
        calls = {"calls": [part.to_json() for part in self.parts]} if self.parts else {}
        return {
            **agent,
            **calls,
            "id": self.id,
            "time": self.time,
            "tool": self.tool,
            "what": self.summary,
            "changes": [_change_to_json(change) for change in self.changes],
            "skipped": [{"path": remark.path, "why": remark.reason} for remark in self.skipped],
            "foreign": [{"path": other.path, "why": other.reason, "proven": other.is_proven} for other in self.foreign],
            "undoes": self.undoes,
            "undoneBy": self.undone_by,
        }


def net_changes(entries: Sequence[UndoEntry]) -> list[PathChange]:
    """What these entries, newest first, changed all together: one change per path, none where nothing is left of it.

    Foreign changes are left out.
    """
    return _merge_changes(change for entry in reversed(entries) for change in entry.own_changes)


def _merge_changes(changes: Iterable[PathChange]) -> list[PathChange]:
    """Merge changes, oldest first, into one per path."""
    net: dict[str, PathChange] = {}
    for change in changes:
        first = net.get(change.full_path, change)
        net[change.full_path] = PathChange(change.root, change.path, first.before, change.after)
    return [change for _, change in sorted(net.items()) if not _is_unchanged(change)]


def unit_entry_id(session: str, unit: str) -> str:
    """The id of the entry for a whole run of a sub-agent."""
    return sha256(f"{session}\0{unit}".encode("utf-8", "surrogatepass")).hexdigest()[:_UNIT_ID_LENGTH]


def group_units(entries: Sequence[UndoEntry]) -> list[UndoEntry]:
    """The entries, newest first, with those of each run of a sub-agent as one."""
    runs: dict[str, list[UndoEntry]] = {}
    for entry in entries:
        if entry.unit:
            runs.setdefault(entry.unit_id, []).append(entry)
    grouped: list[UndoEntry] = []
    for entry in entries:
        if not entry.unit:
            grouped.append(entry)
        elif (parts := runs.pop(entry.unit_id, None)) is not None:
            grouped.append(_unit_entry(parts))
    return grouped


def find_entry(entries: Iterable[UndoEntry], entry_id: str) -> UndoEntry | None:
    """Find an entry, or a part of one, by its id."""
    every = (each for entry in entries for each in (entry, *entry.parts))
    return next((entry for entry in every if entry.id == entry_id), None)


def _unit_entry(parts: Sequence[UndoEntry]) -> UndoEntry:
    """One entry for a run: what is left of the changes of its parts, newest first, that were not undone one by one."""
    newest, oldest = parts[0], parts[-1]
    live = [part for part in parts if part.undone_by is None] or parts
    changes = _merge_changes(change for part in reversed(live) for change in part.changes)
    paths = {change.full_path for change in changes}
    foreign = {other.path: other for part in live for other in part.foreign if other.path in paths}
    return UndoEntry(
        id=newest.unit_id,
        time=newest.time,
        tool=UNIT_TOOL,
        summary=newest.unit,
        changes=tuple(changes),
        skipped=tuple(dict.fromkeys(remark for part in live for remark in part.skipped)),
        undone_by=newest.undone_by if all(part.undone_by for part in parts) else None,
        session=newest.session,
        call=newest.call,
        started=oldest.started,
        named=tuple(dict.fromkeys(path for part in live for path in part.named)),
        foreign=tuple(foreign.values()),
        unit=newest.unit,
        parts=tuple(parts),
    )


def _is_unchanged(change: PathChange) -> bool:
    if change.before is None or change.after is None:
        return change.before is change.after
    return change.before.matches(change.after)


class RestoreResult(Frozen):
    """The result of restoring an entry.

    If anything is `refused`, nothing else was restored, unless a partial restore was requested. Paths `left_in_place`
    do no harm, such as a directory with other content. `left_out` are foreign changes that were not named, `lost` what
    the call did and cannot be undone. `entry_id` is the entry of the restore itself; `unrecorded` says why there is
    none although files were restored.
    """

    restored: tuple[str, ...] = ()
    refused: tuple[PathProblem, ...] = ()
    left_in_place: tuple[PathProblem, ...] = ()
    entry_id: str | None = None
    left_out: tuple[ForeignChange, ...] = ()
    lost: tuple[PathProblem, ...] = ()
    unrecorded: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether everything is as it was before the call, apart from proven changes of others."""
        has_doubt = any(not change.is_proven for change in self.left_out)
        return not (self.refused or self.lost or self.unrecorded or has_doubt)


class UndoUnavailable(TejatError):
    """A call was not run, because it could not be undone. The message says why."""


class RestoreScope(Frozen):
    """What to restore of an entry: all but the foreign changes, or exactly the `paths` and what is beneath them.

    With `foreign`, everything. With `partial`, conflicts keep only their own paths from being restored.
    """

    paths: tuple[str, ...] = ()
    foreign: bool = False
    partial: bool = False


DEFAULT_SCOPE = RestoreScope()


class UndoLog(Protocol):
    """The undo log as front ends see it. Methods raise UsageError for an unknown id."""

    def entries(self) -> list[UndoEntry]:
        """All entries, newest first."""
        ...

    def show(self, entry_id: str) -> list[str]:
        """A diff for each change, or one line if it is not text."""
        ...

    def preview(self, entry_id: str, scope: RestoreScope = DEFAULT_SCOPE) -> RestoreResult:
        """The result that `restore` would have. Changes nothing."""
        ...

    def restore(self, entry_id: str, scope: RestoreScope = DEFAULT_SCOPE) -> RestoreResult: ...

    def notes(self) -> Sequence[str]:
        """Recent problems with storing content."""
        ...

    def close(self) -> None: ...


def _change_to_json(change: PathChange) -> JsonObject:
    return {
        "path": change.full_path,
        "change": change.kind.value,
        "before": _node_to_json(change.before),
        "after": _node_to_json(change.after),
    }


def _node_to_json(node: PathState | None) -> JsonObject | None:
    if node is None:
        return None
    mode = f"{stat.S_IMODE(node.permissions):04o}"
    match node.kind:
        case PathKind.FILE:
            digest = None if node.digest is None else node.digest.hex()
            return {"kind": "file", "mode": mode, "size": node.size, "sha256": digest}
        case PathKind.LINK:
            return {"kind": "link", "target": node.target}
        case PathKind.DIRECTORY:
            return {"kind": "directory", "mode": mode}
