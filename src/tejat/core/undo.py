"""What the undo journal tells: what a call did to files, and what came of putting it back."""

import stat
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tejat.core.types import JsonObject
from tejat.core.value import value


class NodeKind(StrEnum):
    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"


@value
class Node:
    """Something that has a path, as it was at one moment.

    A file has an `identity`, the marks by which the same untouched file is known again, and, if its content is kept, a
    `digest`, the SHA-256 of it. A link has a `target`.
    """

    kind: NodeKind
    permissions: int = 0
    size: int = 0
    digest: bytes | None = None
    identity: bytes | None = None
    target: str | None = None
    owner: tuple[int, int] = (0, 0)

    def is_like(self, other: "Node") -> bool:
        """Whether both are the same in all that is put back: kind, permissions, content, target."""
        if self.kind is not other.kind or self.target != other.target or self.permissions != other.permissions:
            return False
        return self.kind is not NodeKind.FILE or self.has_content_of(other)

    def has_content_of(self, other: "Node") -> bool:
        """Whether both are files with one content, as far as that is known."""
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return self.identity is not None and self.identity == other.identity


class Verb(StrEnum):
    CREATED = "created"
    REMOVED = "removed"
    CHANGED = "changed"
    PERMISSIONS = "permissions changed"


@value
class Change:
    """What a call did to one path, which is relative to the directory `root`. None means that nothing was there."""

    root: str
    path: str
    before: Node | None
    after: Node | None

    @property
    def full_path(self) -> str:
        return f"{self.root.rstrip('/')}/{self.path}"

    @property
    def verb(self) -> Verb:
        if self.before is None:
            return Verb.CREATED
        if self.after is None:
            return Verb.REMOVED
        if self.before.kind is not self.after.kind or self.before.target != self.after.target:
            return Verb.CHANGED
        if self.before.kind is NodeKind.FILE and not self.before.has_content_of(self.after):
            return Verb.CHANGED
        return Verb.PERMISSIONS


@value
class Remark:
    """A path that could not be kept, put back or removed, and why in words."""

    path: str
    why: str


@value
class Entry:
    """What one call did. `skipped` is what it did that can't be undone.

    `undoes` is the entry that this one put back, `undone_by` the one that put this back and is itself in force.
    `session` is the id of the session that the call belongs to, and `call` the id of the call in there.
    """

    id: str
    time: float
    tool: str
    what: str
    changes: tuple[Change, ...]
    skipped: tuple[Remark, ...] = ()
    undoes: str | None = None
    undone_by: str | None = None
    session: str = ""
    call: str = ""

    def to_json(self) -> JsonObject:
        return {
            "id": self.id,
            "time": self.time,
            "tool": self.tool,
            "what": self.what,
            "changes": [_change_to_json(change) for change in self.changes],
            "skipped": [{"path": remark.path, "why": remark.why} for remark in self.skipped],
            "undoes": self.undoes,
            "undoneBy": self.undone_by,
        }


@value
class Restored:
    """What came of putting an entry back.

    Where something is `refused` nothing else was done, unless a part was asked for. What is `left` stands in nobody's
    way: a directory that holds something else by now. `entry_id` is the entry of the putting back itself.
    """

    restored: tuple[str, ...] = ()
    refused: tuple[Remark, ...] = ()
    left: tuple[Remark, ...] = ()
    entry_id: str | None = None


class Journal(Protocol):
    """What a front end needs of the undo journal. An unknown id raises UsageError."""

    def entries(self) -> list[Entry]:
        """All of them, newest first."""
        ...

    def show(self, entry_id: str) -> list[str]:
        """For each change a patch, or a line where there is no text to compare."""
        ...

    def preview(self, entry_id: str) -> Restored:
        """What `restore` would do; nothing is touched."""
        ...

    def restore(self, entry_id: str, *, partial: bool = False) -> Restored: ...

    def notes(self) -> Sequence[str]:
        """What could not be kept lately, in words."""
        ...

    def close(self) -> None: ...


def _change_to_json(change: Change) -> JsonObject:
    return {
        "path": change.full_path,
        "change": change.verb.value,
        "before": _node_to_json(change.before),
        "after": _node_to_json(change.after),
    }


def _node_to_json(node: Node | None) -> JsonObject | None:
    if node is None:
        return None
    mode = f"{stat.S_IMODE(node.permissions):04o}"
    match node.kind:
        case NodeKind.FILE:
            digest = None if node.digest is None else node.digest.hex()
            return {"kind": "file", "mode": mode, "size": node.size, "sha256": digest}
        case NodeKind.LINK:
            return {"kind": "link", "target": node.target}
        case NodeKind.DIRECTORY:
            return {"kind": "directory", "mode": mode}
