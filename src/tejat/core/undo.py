"""What the undo journal tells: what a call did to files, and what came of putting it back."""

import stat
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonObject


class PathKind(StrEnum):
    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"


@frozen
class PathState:
    """Something that has a path, as it was at one moment.

    A file has an `identity`, the marks by which the same untouched file is known again, and, if its content is kept, a
    `digest`, the SHA-256 of it. A link has a `target`.
    """

    kind: PathKind
    permissions: int = 0
    size: int = 0
    digest: bytes | None = None
    identity: bytes | None = None
    target: str | None = None
    owner: tuple[int, int] = (0, 0)

    def matches(self, other: "PathState") -> bool:
        """Whether both are the same in all that is put back: kind, permissions, content, target."""
        if self.kind is not other.kind or self.target != other.target or self.permissions != other.permissions:
            return False
        return self.kind is not PathKind.FILE or self.has_same_content(other)

    def has_same_content(self, other: "PathState") -> bool:
        """Whether both are files with one content, as far as that is known."""
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return self.identity is not None and self.identity == other.identity


class ChangeKind(StrEnum):
    CREATED = "created"
    REMOVED = "removed"
    CHANGED = "changed"
    PERMISSIONS = "permissions changed"


@frozen
class PathChange:
    """What a call did to one path, which is relative to the directory `root`. None means that nothing was there."""

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


@frozen
class PathProblem:
    """A path that could not be kept, put back or removed, and why in words."""

    path: str
    reason: str


@frozen
class UndoEntry:
    """What one call did. `skipped` is what it did that can't be undone.

    `undoes` is the entry that this one put back, `undone_by` the one that put this back and is itself in force.
    `session` is the id of the session that the call belongs to, and `call` the id of the call in there.
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

    def to_json(self) -> JsonObject:
        return {
            "id": self.id,
            "time": self.time,
            "tool": self.tool,
            "what": self.summary,
            "changes": [_change_to_json(change) for change in self.changes],
            "skipped": [{"path": remark.path, "why": remark.reason} for remark in self.skipped],
            "undoes": self.undoes,
            "undoneBy": self.undone_by,
        }


@frozen
class RestoreResult:
    """What came of putting an entry back.

    Where something is `refused` nothing else was done, unless a part was asked for. What is `left` stands in nobody's
    way: a directory that holds something else by now. `entry_id` is the entry of the putting back itself.
    """

    restored: tuple[str, ...] = ()
    refused: tuple[PathProblem, ...] = ()
    left_in_place: tuple[PathProblem, ...] = ()
    entry_id: str | None = None


class UndoLog(Protocol):
    """What a front end needs of the undo journal. An unknown id raises UsageError."""

    def entries(self) -> list[UndoEntry]:
        """All of them, newest first."""
        ...

    def show(self, entry_id: str) -> list[str]:
        """For each change a patch, or a line where there is no text to compare."""
        ...

    def preview(self, entry_id: str) -> RestoreResult:
        """What `restore` would do; nothing is touched."""
        ...

    def restore(self, entry_id: str, *, partial: bool = False) -> RestoreResult: ...

    def notes(self) -> Sequence[str]:
        """What could not be kept lately, in words."""
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
