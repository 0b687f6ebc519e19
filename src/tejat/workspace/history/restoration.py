"""Puts changes back: everything is checked first, then done in the order that lets it succeed."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeGuard

from tejat.core.undo import Change, Node, NodeKind, Remark
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.workspace.beneath import Root
from tejat.workspace.draft import remove_leftovers
from tejat.workspace.history.changes import node_at
from tejat.workspace.history.plain_directory import plain_directory
from tejat.workspace.history.put_back import (
    Expected,
    allow_owner,
    has_other_names,
    make_directory,
    move_back,
    put_file,
    put_link,
    remove_directory,
    remove_file,
    set_permissions,
)
from tejat.workspace.history.snapshot import Snapshot

_OWNER_ALL = 0o700


@value
class Plan:
    """What is to be done in one root, from what is there now to what was before, and what may not be done."""

    changes: tuple[Change, ...]
    refused: tuple[Remark, ...]


def plan(changes: Sequence[Change], current: Snapshot, *, is_kept: Callable[[bytes], bool]) -> Plan:
    """Check changes of one root against what is there now. What is already as it was needs nothing."""
    wanted: list[Change] = []
    refused: list[Remark] = []
    created = {change.after.identity for change in changes if change.before is None and change.after is not None}
    for change in changes:
        now = node_at(current, change.path)
        if _is_settled(change, now, current):
            continue
        why = _objection(change, now, current)
        if why is None and _needs_content(change) and change.before is not None:
            digest = change.before.digest
            if digest is None and (change.before.identity not in created or change.after is not None):
                why = phrase("its old content was not kept")
            elif digest is not None and not is_kept(digest):
                why = phrase("its old content is no longer kept")
        if why is None:
            wanted.append(replace(change, after=now))
        else:
            refused.append(Remark(change.full_path, why))
    return Plan(tuple(wanted), tuple(refused))


def _is_settled(change: Change, now: Node | None, current: Snapshot) -> bool:
    if now is None or change.before is None:
        return now is change.before and change.path not in current.state.others
    return now.is_like(change.before)


def _objection(change: Change, now: Node | None, current: Snapshot) -> str | None:
    """Why the path may not be touched: it is not as the call left it."""
    after = change.after
    if change.path in current.state.others:
        return phrase("a pipe, socket or device is there now")
    if now is None:
        # Between a file and a directory there is a moment without either, at which a putting back may have been cut.
        return (
            None if after is None or _is_directory(change.before) != _is_directory(after) else phrase("removed since")
        )
    if _is_open_directory(change.before, now) or _is_open_directory(after, now):
        return None
    if after is None:
        return phrase("something else is there now")
    if now.kind is not after.kind:
        return phrase("changed since: it is a {kind} now", kind=now.kind)
    if now.kind is NodeKind.FILE and not now.has_content_of(after):
        return phrase("changed since")
    if now.target != after.target:
        return phrase("changed since")
    return None if now.permissions == after.permissions else phrase("its permissions changed since")


def _is_open_directory(node: Node | None, now: Node) -> bool:
    """Whether this is a directory that belongs here, still open for the putting back that was cut short."""
    if node is None or not _is_directory(node) or not _is_directory(now):
        return False
    return now.permissions in (_OWNER_ALL, node.permissions, node.permissions | _OWNER_ALL)


def _needs_content(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None or before.kind is not NodeKind.FILE:
        return False
    return after is None or not before.has_content_of(after)


@value
class Outcome:
    done: tuple[str, ...]
    failed: tuple[Remark, ...]
    left: tuple[Remark, ...]


_Step = Callable[[Change, int, str], None]


class Restoration:
    """Carries out the changes of a plan in one root. `read` gives contents that are kept.

    Raises nothing: what fails is in the outcome, and its path is as it was before.
    """

    def __init__(
        self, root: Root, changes: Sequence[Change], current: Snapshot, read: Callable[[bytes], bytes | None]
    ) -> None:
        self._root = root
        self._inwards = sorted(changes, key=lambda change: change.path.split("/"))
        self._current = current
        self._read = read
        self._done: set[str] = set()
        self._failed: dict[str, Remark] = {}
        self._left: list[Remark] = []
        gone = {change.before.identity for change in changes if change.after is None and _is_unkept(change.before)}
        self._moved = {
            change.after.identity: change.path
            for change in changes
            if change.before is None and _is_unkept(change.after) and change.after.identity in gone
        }

    def run(self) -> Outcome:
        """First make room, then fill it, and last of all close what was open only for this."""
        inwards, outwards = self._inwards, self._inwards[::-1]
        self._take(inwards, self._open, lambda _, new: _is_directory(new))
        self._take(outwards, self._remove, lambda old, new: _is_removable(new) and not _is_removable(old))
        self._take(inwards, self._make, lambda old, new: _is_directory(old) and not _is_directory(new))
        self._take(inwards, self._move, lambda old, new: new is None and _is_unkept(old))
        self._take(outwards, self._clear, lambda old, new: _is_directory(new) and not _is_directory(old))
        self._take(inwards, self._put, lambda old, new: _is_removable(old) and not (new is None and _is_unkept(old)))
        self._flush()
        self._take(outwards, self._close, lambda old, _: _is_directory(old))
        done = [change.full_path for change in inwards if change.path in self._done and change.path not in self._failed]
        return Outcome(tuple(done), tuple(self._failed.values()), tuple(self._left))

    def _take(
        self, changes: Sequence[Change], step: _Step, concerns: Callable[[Node | None, Node | None], bool]
    ) -> None:
        for change in changes:
            if change.path in self._failed or not concerns(change.before, change.after):
                continue
            try:
                self._make_parent(change)
                with plain_directory(self._root.fd, os.path.dirname(change.path)) as directory:
                    step(change, directory, os.path.basename(change.path))
            except OSError as error:
                self._failed[change.path] = Remark(
                    change.full_path, phrase("could not be put back: {why}", why=error.strerror)
                )

    def _make_parent(self, change: Change) -> None:
        """Somebody may have removed the directory of what is put back."""
        if change.before is None:
            return
        parent = os.path.dirname(change.path)
        with suppress(FileNotFoundError), plain_directory(self._root.fd, parent):
            return
        above = ""
        for name in parent.split("/"):
            with suppress(FileExistsError), plain_directory(self._root.fd, above) as directory:
                os.mkdir(name, dir_fd=directory)
            above = f"{above}/{name}" if above else name

    def _flush(self) -> None:
        """Make the names last. Where that is not possible they are still there, so it is no failure."""
        for parent in {os.path.dirname(change.path) for change in self._inwards if change.path in self._done}:
            with suppress(OSError), plain_directory(self._root.fd, parent) as directory:
                os.fsync(directory)

    def _open(self, change: Change, directory: int, name: str) -> None:
        allow_owner(directory, name)

    def _remove(self, change: Change, directory: int, name: str) -> None:
        if change.before is None and change.path in self._moved.values():
            return
        remove_file(directory, name, expected=self._seen(change.path))
        self._done.add(change.path)

    def _make(self, change: Change, directory: int, name: str) -> None:
        if change.before is not None:
            make_directory(directory, name, change.before)
            self._done.add(change.path)

    def _move(self, change: Change, directory: int, name: str) -> None:
        source = self._moved.get(change.before.identity) if change.before is not None else None
        if source is None or change.before is None:
            raise OSError(None, phrase("its old content was not kept"))
        with plain_directory(self._root.fd, os.path.dirname(source)) as other:
            move_back(other, os.path.basename(source), directory, name, expected=self._seen(source))
        set_permissions(directory, name, change.before)
        self._done.update((change.path, source))

    def _clear(self, change: Change, directory: int, name: str) -> None:
        if remove_directory(directory, name):
            self._done.add(change.path)
        elif change.before is None:
            self._left.append(Remark(change.full_path, phrase("left, because there is something else in it")))
        else:
            raise OSError(None, phrase("there is something else in the directory now"))

    def _put(self, change: Change, directory: int, name: str) -> None:
        node = change.before
        if node is None:
            return
        expected = None if _is_directory(change.after) else self._seen(change.path)
        if node.target is not None:
            put_link(directory, name, node.target, expected=expected)
        elif self._needs_only_permissions(change, directory, name):
            set_permissions(directory, name, node)
        else:
            content = None if node.digest is None else self._read(node.digest)
            if content is None:
                raise OSError(None, phrase("its old content is damaged"))
            put_file(directory, name, content, node, expected=expected)
        self._done.add(change.path)

    def _needs_only_permissions(self, change: Change, directory: int, name: str) -> bool:
        """A file with other names gets a copy of its own: theirs are not to change."""
        if change.before is None or not _is_file(change.after) or not change.before.has_content_of(change.after):
            return False
        return change.before.digest is None or not has_other_names(directory, name)

    def _close(self, change: Change, directory: int, name: str) -> None:
        if change.before is not None:
            set_permissions(directory, name, change.before)
            self._done.add(change.path)

    def _seen(self, path: str) -> Expected:
        return self._current.state.files.get(path) or self._current.state.links.get(path)


def clean_up(root: Root, paths: Iterable[str]) -> None:
    """Remove what a process left beside these paths that was killed while it put them back."""
    for parent in {os.path.dirname(path) for path in paths}:
        with suppress(OSError), plain_directory(root.fd, parent) as directory:
            remove_leftovers(directory)


def _is_unkept(node: Node | None) -> TypeGuard[Node]:
    return _is_file(node) and node.digest is None


def _is_file(node: Node | None) -> TypeGuard[Node]:
    return node is not None and node.kind is NodeKind.FILE


def _is_directory(node: Node | None) -> bool:
    return node is not None and node.kind is NodeKind.DIRECTORY


def _is_removable(node: Node | None) -> bool:
    return node is not None and node.kind is not NodeKind.DIRECTORY
