"""What is watched around a call: whole roots, or single paths."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress

from tejat.core.errors import ErrorType, UsageError, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.undo import PathChange
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.roots import Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.paths.real_path import real_path
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.snapshot import scan_paths
from tejat.workspace.undo.tree_state import TreeScan, TreeState


class TreeWatch(Frozen):
    """Everything beneath a root."""

    root: RootDirectory
    scan: TreeScan

    def scan_state(self, *, limit: int, stop: Callable[[], None], before: TreeState | None = None) -> TreeState:
        """Raises TooManyEntries, OSError and whatever `stop` raises."""
        return self.scan.run(limit=limit, stop=stop, unwatched=None if before is None else before.unwatched)


class PathWatch(Frozen):
    """Single paths beneath a root."""

    root: RootDirectory
    paths: tuple[str, ...]

    def scan_state(self, *, limit: int, stop: Callable[[], None], before: TreeState | None = None) -> TreeState:
        return scan_paths(self.root, self.paths)


Watch = TreeWatch | PathWatch


def watch_trees(roots: Roots, journal: PrivateDirectory) -> list[Watch]:
    """Watch all roots, without the undo store itself. Raises OSError."""
    if any(journal.path.startswith(f"{root.real_path.rstrip('/')}/") for root in roots.directories):
        # Otherwise the call would seem to have created its directories.
        journal.ensure()
    marks = {_stat_identity(os.fstat(root.fd)) for root in roots.directories}
    with suppress(FileNotFoundError):
        marks.add(_stat_identity(os.stat(journal.path)))
    return [
        TreeWatch(root, TreeScan(roots, root, IgnoreRules(root.real_path, git=True, gemini=True), marks))
        for root in roots.directories
    ]


def watch_changes(roots: Roots, changes: Iterable[PathChange]) -> list[Watch]:
    """Watch exactly the paths of changes below the roots, links themselves and not what they lead to."""
    found: dict[str, list[str]] = {}
    for change in changes:
        found.setdefault(change.root, []).append(change.path)
    return [PathWatch(root, tuple(found[root.real_path])) for root in roots.directories if root.real_path in found]


def watch_paths(roots: Roots, paths: Iterable[str], closing: ExitStack) -> list[Watch]:
    """Watch the files that the paths lead to after all links, and the directories to be created for them.

    Files outside the roots are watched too. Paths that cannot become a file are not.
    """
    found: dict[RootDirectory, dict[str, None]] = {}
    for path in paths:
        for root, relative in _locate_paths(roots, path, closing):
            found.setdefault(root, {})[relative] = None
    return [PathWatch(root, tuple(relatives)) for root, relatives in found.items()]


def _locate_paths(roots: Roots, path: str, closing: ExitStack) -> list[tuple[RootDirectory, str]]:
    try:
        return _locate_inside(roots, path)
    except WorkspaceError as failure:
        if failure.error_type is not ErrorType.PATH_NOT_IN_WORKSPACE:
            return []
    with suppress(WorkspaceError, UsageError):
        real = real_path(os.path.join(roots.first.path, path))
        directory = os.path.dirname(real)
        while not os.path.isdir(directory):
            directory = os.path.dirname(directory)
        return _locate_inside(closing.enter_context(Roots([directory])), real)
    return []


def _locate_inside(roots: Roots, path: str) -> list[tuple[RootDirectory, str]]:
    with roots.open_parent(roots.locate(path), create=False) as parent:
        location, missing = parent.location, len(parent.missing)
    names = location.relative.split("/")
    return [(location.root, "/".join(names[: len(names) - level])) for level in range(missing, -1, -1)]


def missing_parents(root: RootDirectory, paths: Sequence[str]) -> set[str]:
    """Return the directories that would have to be created for the paths."""
    known: dict[str, bool] = {"": True}
    for path in paths:
        directory = path.rpartition("/")[0]
        while directory not in known:
            known[directory] = bool(scan_paths(root, (directory,)).directories)
            directory = directory.rpartition("/")[0]
    return {directory for directory, exists in known.items() if not exists}


def _stat_identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
