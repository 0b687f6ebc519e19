"""Says what became of a tree between two snapshots of it."""

import stat
import struct
from collections.abc import Collection, Iterable, Iterator
from typing import TypeGuard

from tejat.core.undo import Change, Node, NodeKind, Remark
from tejat.core.value import replace, value
from tejat.workspace.history.snapshot import Snapshot
from tejat.workspace.history.tree_state import KEY_SIZE, read_key

# The clock of files lags behind ours by a tick.
_TICK = 20_000_000
_IDENTITY = struct.Struct("<QQqq")


@value
class Comparison:
    """`changes` can be undone, by path; `skipped` happened and cannot."""

    changes: tuple[Change, ...]
    skipped: tuple[Remark, ...]


def without_stand_ins(comparison: Comparison, places: Collection[str]) -> Comparison:
    """The same without the empty directories that came or went at these paths."""
    touched = [change.path for change in comparison.changes]

    def is_stand_in(change: Change) -> bool:
        node = change.after if change.before is None else change.before if change.after is None else None
        if change.path not in places or node is None or node.kind is not NodeKind.DIRECTORY:
            return False
        return not any(path.startswith(f"{change.path}/") for path in touched)

    return replace(comparison, changes=tuple(change for change in comparison.changes if not is_stand_in(change)))


def compare(before: Snapshot, after: Snapshot) -> Comparison:
    """What is different. Files that were only touched are not."""
    changes: list[Change] = []
    skipped = list(_unwatched_changes(before, after))
    blind = before.state.unwatched.keys() | after.state.unwatched.keys()
    paths = sorted(_candidates(before, after))
    if blind:
        closed = before.state.directories.keys() & after.state.directories.keys()
        paths = [path for path in paths if (path not in blind or path in closed) and not _is_beneath(path, blind)]
    moved = _Moved(before, after, paths)
    for path in paths:
        problem = _problem(before, after, path, moved)
        if problem is not None:
            skipped.append(Remark(f"{before.root.rstrip('/')}/{path}", problem))
            continue
        old, new = node_at(before, path), node_at(after, path)
        if not _is_same(old, new):
            changes.append(Change(before.root, path, before=old, after=new))
    return Comparison(tuple(changes), tuple(skipped))


def node_at(snapshot: Snapshot, path: str) -> Node | None:
    """What is at a path, None when there is nothing or nothing that can be put back."""
    value = snapshot.files.get(path)
    if value is not None:
        return _file(value)
    target = snapshot.state.links.get(path)
    if target is not None:
        return Node(NodeKind.LINK, target=target)
    directory = snapshot.state.directories.get(path)
    if directory is not None:
        mode, user, group = directory
        return Node(NodeKind.DIRECTORY, permissions=mode, owner=(user, group))
    return None


def _file(value: bytes) -> Node:
    key = read_key(value)
    digest = value[KEY_SIZE:] or None
    return Node(
        NodeKind.FILE,
        permissions=stat.S_IMODE(key.mode),
        size=key.size,
        digest=digest,
        identity=_IDENTITY.pack(key.device, key.inode, key.size, key.modified),
        owner=(key.user, key.group),
    )


def _candidates(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Paths at which something may be different, each once."""
    seen: set[str] = set()
    for old, new in (
        (before.files, after.files),
        (before.state.links, after.state.links),
        (before.state.directories, after.state.directories),
        (before.state.others, after.state.others),
    ):
        if old == new:
            continue
        seen.update(path for path, value in new.items() if old.get(path) != value)
        seen.update(old.keys() - new.keys())
    yield from seen


def _is_beneath(path: str, directories: Collection[str]) -> bool:
    if "" in directories:
        return True
    cut = path.rfind("/")
    while cut > 0:
        if path[:cut] in directories:
            return True
        cut = path.rfind("/", 0, cut)
    return False


def _unwatched_changes(before: Snapshot, after: Snapshot) -> Iterator[Remark]:
    """What is not looked into can still be seen to come and go."""
    old, new = before.state.unwatched, after.state.unwatched
    for path in sorted(old.keys() ^ new.keys()):
        if path in before.state.directories and path in after.state.directories:
            why = "could not be looked into, before or after, so what happened in there is not known"
        else:
            why = f"{'went away' if path in old else 'appeared'}, and what is in there is not watched"
        yield Remark(f"{before.root.rstrip('/')}/{path}", why)


def _problem(before: Snapshot, after: Snapshot, path: str, moved: "_Moved") -> str | None:
    """Why a change could not be undone."""
    for snapshot, verb in ((before, "was"), (after, "is now")):
        if path in snapshot.state.others:
            return f"{verb} a pipe, socket or device"
    old, new = node_at(before, path), node_at(after, path)
    if _is_unkept(old) and not (new is not None and old.has_content_of(new)) and not moved.away(old, new):
        why = before.unkept.get(path, "it was not kept")
        return f"{'removed' if new is None else 'changed'}, and the old content is gone: {why}"
    if not _is_unkept(new) or (old is not None and new.has_content_of(old)) or moved.here(old, new):
        return None
    if read_key(after.files[path]).modified >= before.state.taken - _TICK:
        return None
    # Not written by the call but brought here from elsewhere: this may be the only copy.
    why = after.unkept.get(path, "it was not kept")
    return f"{'created' if old is None else 'changed'}, and undo would lose it: {why}"


def _is_unkept(node: Node | None) -> TypeGuard[Node]:
    return node is not None and node.kind is NodeKind.FILE and node.digest is None


class _Moved:
    """Files that are not kept but only changed their names: they can be moved back."""

    def __init__(self, before: Snapshot, after: Snapshot, paths: Iterable[str]) -> None:
        gone: set[bytes] = set()
        come: set[bytes] = set()
        for path in paths:
            old, new = node_at(before, path), node_at(after, path)
            if new is None and _is_unkept(old) and old.identity is not None:
                gone.add(old.identity)
            if old is None and _is_unkept(new) and new.identity is not None:
                come.add(new.identity)
        self._identities = gone & come

    def away(self, old: Node, new: Node | None) -> bool:
        return new is None and old.identity in self._identities

    def here(self, old: Node | None, new: Node) -> bool:
        return old is None and new.identity in self._identities


def _is_same(old: Node | None, new: Node | None) -> bool:
    if old is None or new is None:
        return old is new
    return old.is_like(new)
