"""Restoring changes: everything is checked first, then done in an order in which it can succeed."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import TypeGuard

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.undo import PathChange, PathKind, PathProblem, PathState
from tejat.workspace.files.openat import RootDirectory, open_directory_nofollow
from tejat.workspace.files.system_calls import sync_files
from tejat.workspace.files.temp_file import remove_stale_temp_files
from tejat.workspace.undo.comparison import node_at
from tejat.workspace.undo.open_directories import OpenDirectories
from tejat.workspace.undo.restore_operations import (
    ExpectedState,
    PreparedFile,
    grant_owner_access,
    make_directory,
    remove_directory,
    remove_file,
    restore_link,
    restore_renamed_file,
    set_permissions,
)
from tejat.workspace.undo.snapshot import Snapshot

_OWNER_ALL = 0o700
_BATCH_FILES = 128
"""As many files are open at once, and as many directories."""
_BATCH_BYTES = 64 << 20


class RestorePlan(Frozen):
    """The changes to make in one root, from its current to its former state, and those refused."""

    changes: tuple[PathChange, ...]
    refused: tuple[PathProblem, ...]


def plan_restore(changes: Sequence[PathChange], current: Snapshot, *, is_kept: Callable[[bytes], bool]) -> RestorePlan:
    """Check changes of one root against its current state. Paths already restored need nothing."""
    wanted: list[PathChange] = []
    refused: list[PathProblem] = []
    created = {change.after.identity for change in changes if change.before is None and change.after is not None}
    for change in changes:
        now = node_at(current, change.path)
        if _is_already_restored(change, now, current):
            continue
        why = _conflict_reason(change, now, current)
        if why is None and _needs_content(change) and change.before is not None:
            digest = change.before.digest
            if digest is None and (change.before.identity not in created or change.after is not None):
                why = lazy("its previous content was not saved")
            elif digest is not None and not is_kept(digest):
                why = lazy("its previous content is no longer available")
        if why is None:
            wanted.append(replace(change, after=now))
        else:
            refused.append(PathProblem(change.full_path, why))
    return RestorePlan(tuple(wanted), tuple(refused))


def _is_already_restored(change: PathChange, now: PathState | None, current: Snapshot) -> bool:
    if now is None or change.before is None:
        return now is change.before and change.path not in current.state.special_files
    return now.matches(change.before)


def _conflict_reason(change: PathChange, now: PathState | None, current: Snapshot) -> str | None:
    """Return why the path may not be touched: it is not as the call left it."""
    after = change.after
    if change.path in current.state.special_files:
        return lazy("now a pipe, socket or device")
    if now is None:
        # A restoration may have been interrupted between removing a file and creating a directory.
        return (
            None
            if after is None or _is_directory(change.before) != _is_directory(after)
            else lazy("removed since then")
        )
    if _is_directory_in_progress(change.before, now) or _is_directory_in_progress(after, now):
        return None
    if after is None:
        return lazy("replaced by something else")
    if now.kind is not after.kind:
        return lazy("now a {kind}", kind=now.kind)
    if now.target != after.target or (now.kind is PathKind.FILE and not now.has_same_content(after)):
        return lazy("changed since then")
    return None if now.permissions == after.permissions else lazy("permissions changed since then")


def _is_directory_in_progress(node: PathState | None, now: PathState) -> bool:
    """Whether this directory is part of an interrupted restoration."""
    if node is None or not _is_directory(node) or not _is_directory(now):
        return False
    return now.permissions in (_OWNER_ALL, node.permissions, node.permissions | _OWNER_ALL)


def _needs_content(change: PathChange) -> bool:
    before, after = change.before, change.after
    if before is None or before.kind is not PathKind.FILE:
        return False
    return after is None or not before.has_same_content(after)


class RestoreOutcome(Frozen):
    restored: tuple[str, ...]
    failed: tuple[PathProblem, ...]
    remaining: tuple[PathProblem, ...]


_Step = Callable[[PathChange, int, str], None]


class Restoration:
    """Carries out the changes of a plan in one root. `read` returns stored contents.

    Raises nothing: failures are in the outcome, and their paths are unchanged.
    """

    def __init__(
        self,
        root: RootDirectory,
        changes: Sequence[PathChange],
        current: Snapshot,
        read: Callable[[bytes], bytes | None],
    ) -> None:
        self._root = root
        self._inwards = sorted(changes, key=lambda change: change.path.split("/"))
        self._current = current
        self._read = read
        self._restored: set[str] = set()
        self._failed: dict[str, PathProblem] = {}
        self._remaining: list[PathProblem] = []
        gone = {change.before.identity for change in changes if change.after is None and _has_no_content(change.before)}
        self._renamed = {
            change.after.identity: change.path
            for change in changes
            if change.before is None and _is_file(change.after) and change.after.identity in gone
        }

    def run(self) -> RestoreOutcome:
        """Remove what is in the way, restore contents, then restore directory permissions."""
        inwards, outwards = self._inwards, self._inwards[::-1]
        self._run_step(inwards, lambda _, fd, name: grant_owner_access(fd, name), lambda _, new: _is_directory(new))
        self._run_step(outwards, self._remove_file, lambda old, new: _is_leaf(new) and not _is_leaf(old))
        self._run_step(inwards, self._make_directory, lambda old, new: _is_directory(old) and not _is_directory(new))
        self._run_step(inwards, self._restore_renamed, lambda old, new: new is None and _has_no_content(old))
        self._run_step(outwards, self._remove_directory, lambda old, new: _is_directory(new) and not _is_directory(old))
        self._restore_contents(inwards)
        self._flush()
        self._run_step(outwards, self._restore_permissions, lambda old, _: _is_directory(old))
        restored = self._restored - self._failed.keys()
        done = tuple(change.full_path for change in inwards if change.path in restored)
        return RestoreOutcome(done, tuple(self._failed.values()), tuple(self._remaining))

    def _run_step(
        self, changes: Sequence[PathChange], step: _Step, concerns: Callable[[PathState | None, PathState | None], bool]
    ) -> None:
        with OpenDirectories(self._root.fd) as opened:
            for change in changes:
                if change.path in self._failed or not concerns(change.before, change.after):
                    continue
                try:
                    step(change, self._open_parent(change, opened), change.path.rpartition("/")[2])
                except OSError as error:
                    self._fail(change, error)

    def _restore_contents(self, changes: Iterable[PathChange]) -> None:
        """Restore files and links. Files are written and made durable many at a time, then put in place."""
        for batch in _batches(each for each in changes if self._needs_restored_content(each)):
            with ExitStack() as stack:
                opened = stack.enter_context(OpenDirectories(self._root.fd, limit=_BATCH_FILES))
                prepared: list[tuple[PathChange, PreparedFile]] = []
                for change in batch:
                    try:
                        file = self._restore_or_prepare(change, self._open_parent(change, opened))
                    except OSError as error:
                        self._fail(change, error)
                        continue
                    if file is not None:
                        prepared.append((change, stack.enter_context(file)))
                self._publish(prepared)

    def _publish(self, prepared: Sequence[tuple[PathChange, PreparedFile]]) -> None:
        try:
            sync_files([file.fd for _, file in prepared])
        except OSError as error:
            for change, _file in prepared:
                self._fail(change, error)
            return
        for change, file in prepared:
            try:
                file.publish()
            except OSError as error:
                self._fail(change, error)
            else:
                self._restored.add(change.path)

    def _needs_restored_content(self, change: PathChange) -> bool:
        if change.path in self._failed or not _is_leaf(change.before):
            return False
        return change.after is not None or not _has_no_content(change.before)

    def _fail(self, change: PathChange, error: OSError) -> None:
        why = lazy("could not be restored: {why}", why=error.strerror)
        self._failed[change.path] = PathProblem(change.full_path, why)

    def _open_parent(self, change: PathChange, opened: OpenDirectories) -> int:
        """Return the directory of a path, created if it has been removed."""
        parent = change.path.rpartition("/")[0]
        try:
            return opened.get(parent)
        except FileNotFoundError:
            if change.before is None:
                raise
        above = ""
        for name in parent.split("/"):
            with suppress(FileExistsError), open_directory_nofollow(self._root.fd, above) as directory:
                os.mkdir(name, dir_fd=directory)
            above = f"{above}/{name}" if above else name
        return opened.get(parent)

    def _flush(self) -> None:
        """Flush the directories. Failing that is no failure of the restoration."""
        for parent in {change.path.rpartition("/")[0] for change in self._inwards if change.path in self._restored}:
            with suppress(OSError), open_directory_nofollow(self._root.fd, parent) as directory:
                os.fsync(directory)

    def _remove_file(self, change: PathChange, directory: int, name: str) -> None:
        if change.before is None and change.path in self._renamed.values():
            return
        remove_file(directory, name, expected=self._expected_state(change.path))
        self._restored.add(change.path)

    def _make_directory(self, change: PathChange, directory: int, name: str) -> None:
        if change.before is not None:
            make_directory(directory, name, change.before)
            self._restored.add(change.path)

    def _restore_renamed(self, change: PathChange, directory: int, name: str) -> None:
        source = self._renamed.get(change.before.identity) if change.before is not None else None
        if source is None or change.before is None:
            raise OSError(None, lazy("its previous content was not saved"))
        with open_directory_nofollow(self._root.fd, os.path.dirname(source)) as other:
            expected = self._expected_state(source)
            restore_renamed_file(other, os.path.basename(source), directory, name, expected=expected)
        set_permissions(directory, name, change.before)
        self._restored.update((change.path, source))

    def _remove_directory(self, change: PathChange, directory: int, name: str) -> None:
        if remove_directory(directory, name):
            self._restored.add(change.path)
        elif change.before is None:
            self._remaining.append(PathProblem(change.full_path, lazy("kept, because it contains other files")))
        else:
            raise OSError(None, lazy("the directory contains other files now"))

    def _restore_or_prepare(self, change: PathChange, directory: int) -> PreparedFile | None:
        """Restore a link, or permissions only. Otherwise return the file to be put in place."""
        node, name = change.before, change.path.rpartition("/")[2]
        if node is None:
            return None
        expected = None if _is_directory(change.after) else self._expected_state(change.path)
        if node.target is not None:
            restore_link(directory, name, node.target, expected=expected)
        elif self._needs_only_permissions(change, directory, name):
            set_permissions(directory, name, node)
        else:
            content = None if node.digest is None else self._read(node.digest)
            if content is None:
                raise OSError(None, lazy("its saved content is damaged"))
            return PreparedFile(directory, name, content, node, expected=expected)
        self._restored.add(change.path)
        return None

    def _needs_only_permissions(self, change: PathChange, directory: int, name: str) -> bool:
        """Whether the content is right already. A file with hard links is copied: the others must not change."""
        if change.before is None or not _is_file(change.after) or not change.before.has_same_content(change.after):
            return False
        return change.before.digest is None or os.stat(name, dir_fd=directory, follow_symlinks=False).st_nlink == 1

    def _restore_permissions(self, change: PathChange, directory: int, name: str) -> None:
        if change.before is not None:
            set_permissions(directory, name, change.before)
            self._restored.add(change.path)

    def _expected_state(self, path: str) -> ExpectedState:
        return self._current.state.files.get(path) or self._current.state.links.get(path)


def _batches(changes: Iterable[PathChange]) -> Iterator[list[PathChange]]:
    """Yield the changes in groups whose contents fit into memory."""
    batch: list[PathChange] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += 0 if change.before is None else change.before.size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def remove_stale_files(root: RootDirectory, paths: Iterable[str]) -> None:
    """Remove temporary files that a killed restoration left beside these paths."""
    for parent in {path.rpartition("/")[0] for path in paths}:
        with suppress(OSError), open_directory_nofollow(root.fd, parent) as directory:
            remove_stale_temp_files(directory)


def _has_no_content(node: PathState | None) -> TypeGuard[PathState]:
    return _is_file(node) and node.digest is None


def _is_file(node: PathState | None) -> TypeGuard[PathState]:
    return node is not None and node.kind is PathKind.FILE


def _is_directory(node: PathState | None) -> bool:
    return node is not None and node.kind is PathKind.DIRECTORY


def _is_leaf(node: PathState | None) -> bool:
    return node is not None and node.kind is not PathKind.DIRECTORY
