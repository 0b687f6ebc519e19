"""One overlay copy of the roots: a command runs in it, its changes are shown, then applied or discarded."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, ngettext
from tejat.core.undo import PathChange, PathKind, PathProblem, PathState
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.overlay.upper_layer import MAX_FILE_SIZE, LayerChanges, TooManyChanges, read_upper_layer
from tejat.workspace.sandbox.types import OverlayLayer
from tejat.workspace.undo.comparison import is_same, node_at
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.digest_cache import DigestCache
from tejat.workspace.undo.patches import render_patches
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.restoration import Restoration, plan_restore
from tejat.workspace.undo.snapshot import Snapshot, SnapshotBudget, scan_paths, take_snapshot
from tejat.workspace.undo.tree_state import unpack_file_key

MAX_CHANGES = 1000
"""Changes that can be shown. More cannot be applied, because the user would not have seen them."""
MAX_DIFF = 100_000
"""Characters of a diff that are shown to the user for a decision."""

_PATCH = "Index: "
_MAX_OLD_CONTENT = 64 << 20


class OverlayChanges(Frozen):
    """The changes of a command in the copy. With `blockers` (reasons for display) none can be applied."""

    changes: tuple[PathChange, ...]
    diff: str
    blockers: tuple[str, ...] = ()


class OverlayCopy:
    """Created and removed by `OverlayManager`. Collecting and applying changes block: use a thread.

    Real files that change after `started` (nanoseconds, as file times) were changed by another program.
    """

    def __init__(
        self,
        directory: str,
        roots: Sequence[RootDirectory],
        layers: Sequence[OverlayLayer],
        *,
        started: int,
        control_paths: Sequence[str],
        remove: Callable[[], None],
    ) -> None:
        self.layers = tuple(layers)
        self.discard = remove
        self._directory = directory
        self._roots = tuple(roots)
        self._control_names = ControlNames(control_paths)
        self._started = started
        self._layer_changes: dict[str, LayerChanges] = {}
        self._changes: tuple[PathChange, ...] = ()

    def collect_changes(self, stop: Callable[[], None]) -> OverlayChanges:
        """Collect the command's changes after all its processes ended. Raises OSError, and whatever `stop` raises."""
        obstacles: list[str] = []
        changes: list[PathChange] = []
        old: dict[bytes, bytes] = {}
        for root, layer in zip(self._roots, self.layers, strict=False):
            try:
                found = self._layer_changes[root.real_path] = read_upper_layer(layer.upper, root.real_path, stop=stop)
            except TooManyChanges:
                return OverlayChanges((), "", (_("It changed too many files to list."),))
            seen = self._snapshot(root, found.nodes, stop, old)
            own = list(_list_changes(root.real_path, found, seen))
            obstacles += self._blockers(own, found, seen)
            changes += own
        self._changes = tuple(sorted(changes, key=lambda change: change.full_path))
        if len(changes) > MAX_CHANGES:
            message = ngettext(
                "It changed {count} file, too many to list.",
                "It changed {count} files, too many to list.",
                len(changes),
            )
            return OverlayChanges(self._changes[:MAX_CHANGES], "", (message,))
        return OverlayChanges(self._changes, self._diff(old), tuple(obstacles))

    def apply(self, stop: Callable[[], None], selected: Sequence[PathChange] | None = None) -> None:
        """Apply the shown changes, or a selection of them, to the real files. The copy can be discarded afterwards.

        Raises ToolFailure, applying nothing, if one of the files has changed since; OSError with all failures if some
        changes could not be applied.
        """
        work: list[Restoration] = []
        refused: list[PathProblem] = []
        shown = self._changes if selected is None else [change for change in self._changes if change in selected]
        for root in self._roots:
            changes = [change for change in shown if change.root == root.real_path]
            seen = self._snapshot(root, [change.path for change in changes], stop, {})
            # From here on it is an undo in the other direction.
            reversed_changes = [replace(change, before=change.after, after=change.before) for change in changes]
            planned = plan_restore(reversed_changes, seen, is_kept=lambda _unused: True)
            refused += [*planned.refused, *_new_entries(changes)]
            work.append(Restoration(root, planned.changes, seen, self._read_content))
        if refused:
            named = ", ".join(remark.path for remark in refused)
            raise ToolFailure(
                f"Nothing was kept, because other programs changed files meanwhile: {named}",
                ErrorType.STALE_FILE,
                display=_(
                    "Nothing was kept, because other programs changed files in the meantime: {paths}", paths=named
                ),
            )
        failed = [remark for restoration in work for remark in restoration.run().failed]
        if failed:
            raise OSError(None, f"These could not be written: {', '.join(remark.path for remark in failed)}")

    def _snapshot(
        self, root: RootDirectory, paths: Iterable[str], stop: Callable[[], None], old: dict[bytes, bytes]
    ) -> Snapshot:
        """Take a snapshot of the real files. Contents go to `old`, within a limit."""

        def keep(contents: Mapping[bytes, bytes]) -> None:
            if sum(map(len, chain(old.values(), contents.values()))) <= _MAX_OLD_CONTENT:
                old.update(contents)

        budget = SnapshotBudget(file_limit=MAX_FILE_SIZE, reserve=lambda needed: needed, store=keep, stop=stop)
        known = DigestCache(PrivateDirectory(self._directory), root.real_path)
        return take_snapshot(root, scan_paths(root, paths), known, budget)

    def _blockers(self, changes: Sequence[PathChange], found: LayerChanges, seen: Snapshot) -> Iterator[str]:
        yield from found.blockers
        for change in changes:
            path = change.path
            is_directory = change.after is not None and change.after.kind is PathKind.DIRECTORY
            if self._control_names.matches(path, is_directory=is_directory):
                yield _("{path} controls what other programs run, so commands cannot change it.", path=change.full_path)
            if path in seen.state.special_files:
                yield _("{path} is not a regular file, so it cannot be replaced.", path=change.full_path)
            if path in seen.skip_reasons:
                yield _("Could not compare {path}: {why}.", path=change.full_path, why=seen.skip_reasons[path])
            key = seen.state.files.get(path)
            if key is not None and unpack_file_key(key).changed >= self._started:
                yield _("{path} was changed by another program while the command ran.", path=change.full_path)

    def _diff(self, old: Mapping[bytes, bytes]) -> str:
        """Return the diffs of text files."""
        text = ""
        for patch in render_patches(self._changes, lambda digest: old.get(digest) or self._read_content(digest)):
            if not patch.startswith(_PATCH):
                continue
            if len(text) + len(patch) > MAX_DIFF:
                return text + _("The rest of the diff is too long to show.") + "\n"
            text += patch
        return text

    def _read_content(self, digest: bytes) -> bytes | None:
        """Read a content from the layers, None if it is not as it was shown."""
        if digest == sha256_digest(b""):
            return b""
        for found in self._layer_changes.values():
            if digest in found.contents:
                with suppress(OSError), open(found.contents[digest], "rb") as file:
                    content = file.read(MAX_FILE_SIZE + 1)
                    return content if sha256_digest(content) == digest else None
        return None


def _list_changes(root: str, found: LayerChanges, seen: Snapshot) -> Iterator[PathChange]:
    for path, after in found.nodes.items():
        before = node_at(seen, path)
        if before is None and path in seen.state.special_files:
            before = PathState(PathKind.FILE)  # reported as a blocker
        if not is_same(before, after):
            yield PathChange(root, path, before=before, after=after)


def _new_entries(changes: Sequence[PathChange]) -> Iterator[PathProblem]:
    """Yield new entries in directories that are to be removed."""
    known = {change.path for change in changes}
    for change in changes:
        goes = change.after is None or change.after.kind is not PathKind.DIRECTORY
        if goes and change.before is not None and change.before.kind is PathKind.DIRECTORY:
            with suppress(OSError):
                for name in os.listdir(change.full_path):
                    if f"{change.path}/{name}" not in known:
                        yield PathProblem(f"{change.full_path}/{name}", "it is new")
