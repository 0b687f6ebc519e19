"""Comparison of two snapshots of a tree."""

import stat
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeGuard

from tejat.core.frozen import Frozen, replace
from tejat.core.undo import PathChange, PathKind, PathProblem, PathState
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.snapshot import Snapshot
from tejat.workspace.undo.tree_state import FILE_KEY_SIZE, file_key_inode, unpack_file_key

# File timestamps lag behind the clock by a tick.
_TICK = 20_000_000
_IDENTITY = struct.Struct("<QQqq")


class Comparison(Frozen):
    """`changes` can be undone; `skipped` happened and cannot."""

    changes: tuple[PathChange, ...]
    skipped: tuple[PathProblem, ...]


def without_placeholders(comparison: Comparison, places: Collection[str]) -> Comparison:
    """Drop empty directories that appeared or vanished at these paths."""
    touched = [change.path for change in comparison.changes]

    def is_stand_in(change: PathChange) -> bool:
        node = change.after if change.before is None else change.before if change.after is None else None
        if change.path not in places or node is None or node.kind is not PathKind.DIRECTORY:
            return False
        return not any(path.startswith(f"{change.path}/") for path in touched)

    return replace(comparison, changes=tuple(change for change in comparison.changes if not is_stand_in(change)))


def compare_snapshots(before: Snapshot, after: Snapshot) -> Comparison:
    """Return the differences. Files that were only touched are equal."""
    changes: list[PathChange] = []
    skipped = list(_unwatched_changes(before, after))
    blind = before.state.unwatched.keys() | after.state.unwatched.keys()
    paths = sorted(_changed_paths(before, after))
    if blind:
        closed = before.state.directories.keys() & after.state.directories.keys()
        paths = [path for path in paths if (path not in blind or path in closed) and not _is_beneath(path, blind)]
    nodes = [_NodePair(path, node_at(before, path), node_at(after, path)) for path in paths]
    moved = _RenamedFiles(nodes)
    links = _hard_links(before, paths)
    for node in nodes:
        path, old, new = node
        problem = _irreversible_reason(before, after, node, moved)
        if problem is not None:
            skipped.append(PathProblem(f"{before.root.rstrip('/')}/{path}", problem))
            continue
        if not is_same(old, new):
            changes.append(PathChange(before.root, path, before=old, after=new))
            if path in links:
                why = f"was the same file as {links[path]} (a hard link), and comes back as a copy"
                skipped.append(PathProblem(f"{before.root.rstrip('/')}/{path}", why))
    return Comparison(tuple(changes), tuple(skipped))


def with_replaced(comparison: Comparison, after: Snapshot, replaced: Mapping[str, bytes]) -> Comparison:
    """Let files come back with other contents than they had on disk: those by full path in `replaced`."""
    prefix = f"{after.root.rstrip('/')}/"
    changes = {change.path: change for change in comparison.changes}
    for full_path, content in replaced.items():
        path = full_path.removeprefix(prefix)
        now = node_at(after, path)
        if path == full_path or now is None or now.kind is not PathKind.FILE:
            continue
        known = changes.pop(path, None)
        base = now if known is None or known.before is None else known.before
        old = PathState(PathKind.FILE, base.permissions, len(content), sha256_digest(content), owner=base.owner)
        if not is_same(old, now):
            changes[path] = PathChange(after.root, path, before=old, after=now)
    return replace(comparison, changes=tuple(changes[path] for path in sorted(changes)))


def _hard_links(snapshot: Snapshot, paths: Collection[str]) -> dict[str, str]:
    """Return another name of the same file for each of the paths that has one beneath the root."""
    wanted = {file_key_inode(key) for path in paths if (key := snapshot.state.files.get(path)) is not None}
    names: dict[bytes, list[str]] = {}
    if wanted:
        for path, key in snapshot.state.files.items():
            if (inode := file_key_inode(key)) in wanted:
                names.setdefault(inode, []).append(path)
    return {
        path: next(other for other in group if other != path)
        for group in names.values()
        if len(group) > 1
        for path in group
    }


def node_at(snapshot: Snapshot, path: str) -> PathState | None:
    """Return the state at a path, None if there is nothing or nothing restorable."""
    value = snapshot.files.get(path)
    if value is not None:
        return _file_node(value)
    target = snapshot.state.links.get(path)
    if target is not None:
        return PathState(PathKind.LINK, target=target)
    directory = snapshot.state.directories.get(path)
    if directory is not None:
        mode, user, group = directory
        return PathState(PathKind.DIRECTORY, permissions=mode, owner=(user, group))
    return None


def _file_node(value: bytes) -> PathState:
    key = unpack_file_key(value)
    digest = value[FILE_KEY_SIZE:] or None
    return PathState(
        PathKind.FILE,
        permissions=stat.S_IMODE(key.mode),
        size=key.size,
        digest=digest,
        identity=_IDENTITY.pack(key.device, key.inode, key.size, key.modified),
        owner=(key.user, key.group),
    )


def _changed_paths(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield each path with a possible difference once."""
    seen: set[str] = set()
    for old, new in (
        (before.files, after.files),
        (before.state.links, after.state.links),
        (before.state.directories, after.state.directories),
        (before.state.special_files, after.state.special_files),
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


def _unwatched_changes(before: Snapshot, after: Snapshot) -> Iterator[PathProblem]:
    """Report unwatched directories that appeared or vanished."""
    old, new = before.state.unwatched, after.state.unwatched
    for path in sorted(old.keys() ^ new.keys()):
        if path in before.state.directories and path in after.state.directories:
            why = "could not be looked into, before or after, so what happened in there is not known"
        else:
            why = f"{'went away' if path in old else 'appeared'}, and what is in there is not watched"
        yield PathProblem(f"{before.root.rstrip('/')}/{path}", why)


class _NodePair(NamedTuple):
    """What was at a path, and what is there now."""

    path: str
    old: PathState | None
    new: PathState | None


def _irreversible_reason(before: Snapshot, after: Snapshot, node: _NodePair, moved: "_RenamedFiles") -> str | None:
    """Return why a change cannot be undone, None if it can."""
    path, old, new = node
    for snapshot, verb in ((before, "was"), (after, "is now")):
        if path in snapshot.state.special_files:
            return f"{verb} a pipe, socket or device"
    if (
        _has_no_content(old)
        and not (new is not None and old.has_same_content(new))
        and not moved.is_renamed_away(old, new)
    ):
        why = before.skip_reasons.get(path, "it was not kept")
        return f"{'removed' if new is None else 'changed'}, and the old content is gone: {why}"
    if not _has_no_content(new) or (old is not None and new.has_same_content(old)) or moved.is_renamed_here(old, new):
        return None
    if unpack_file_key(after.files[path]).modified >= before.state.taken_at - _TICK:
        return None
    # Moved here rather than written by the call: this may be the only copy.
    why = after.skip_reasons.get(path, "it was not kept")
    return f"{'created' if old is None else 'changed'}, and undo would lose it: {why}"


def _has_no_content(node: PathState | None) -> TypeGuard[PathState]:
    return node is not None and node.kind is PathKind.FILE and node.digest is None


class _RenamedFiles:
    """Files without stored content that were only renamed: they can be renamed back."""

    def __init__(self, nodes: Iterable[_NodePair]) -> None:
        gone: set[bytes] = set()
        come: set[bytes] = set()
        for _path, old, new in nodes:
            if new is None and _has_no_content(old) and old.identity is not None:
                gone.add(old.identity)
            if old is None and _has_no_content(new) and new.identity is not None:
                come.add(new.identity)
        self._identities = gone & come

    def is_renamed_away(self, old: PathState, new: PathState | None) -> bool:
        return new is None and old.identity in self._identities

    def is_renamed_here(self, old: PathState | None, new: PathState) -> bool:
        return old is None and new.identity in self._identities


def is_same(old: PathState | None, new: PathState | None) -> bool:
    """Whether two states are equal; None is equal to None only."""
    return old is new if old is None or new is None else old.matches(new)
