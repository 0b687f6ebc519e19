"""What is watched around a call: the whole of a root, or just some paths."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress

from tejat.core.errors import ErrorType, UsageError, WorkspaceError
from tejat.core.value import value
from tejat.workspace.beneath import Root
from tejat.workspace.history.private_directory import PrivateDirectory
from tejat.workspace.history.snapshot import look_at
from tejat.workspace.history.tree_state import Scan, TreeState
from tejat.workspace.ignore import IgnoreRules
from tejat.workspace.roots import Roots


@value
class TreeWatch:
    """Everything beneath a root."""

    root: Root
    scan: Scan

    def look(self, *, limit: int, stop: Callable[[], None], before: TreeState | None = None) -> TreeState:
        """Raises TooManyEntries, OSError and what `stop` raises."""
        return self.scan.run(limit=limit, stop=stop, unwatched=None if before is None else before.unwatched)


@value
class PathWatch:
    """Some paths beneath a root, and nothing else."""

    root: Root
    paths: tuple[str, ...]

    def look(self, *, limit: int, stop: Callable[[], None], before: TreeState | None = None) -> TreeState:
        return look_at(self.root, self.paths)


Watch = TreeWatch | PathWatch


def watch_trees(roots: Roots, journal: PrivateDirectory) -> list[Watch]:
    """All of the roots, each once, the journal itself left out. Raises OSError."""
    if any(_is_inside(journal.path, root) for root in roots.directories):
        # Else its directories would look as if the call had made them.
        journal.make()
    marks = {_mark(os.fstat(root.fd)) for root in roots.directories}
    with suppress(FileNotFoundError):
        marks.add(_mark(os.stat(journal.path)))
    return [
        TreeWatch(root, Scan(roots, root, IgnoreRules(root.real_path, git=True, gemini=True), marks))
        for root in roots.directories
    ]


def watch_paths(roots: Roots, paths: Iterable[str], closing: ExitStack) -> list[Watch]:
    """The files that the paths mean after all links, and the directories that would have to be made for them.

    Files outside the roots are watched too. What is no file and cannot become one is not.
    """
    found: dict[Root, dict[str, None]] = {}
    for path in paths:
        for root, relative in _places(roots, path, closing):
            found.setdefault(root, {})[relative] = None
    return [PathWatch(root, tuple(relatives)) for root, relatives in found.items()]


def _places(roots: Roots, path: str, closing: ExitStack) -> list[tuple[Root, str]]:
    try:
        return _places_inside(roots, path)
    except WorkspaceError as failure:
        if failure.error_type is not ErrorType.PATH_NOT_IN_WORKSPACE:
            return []
    real = os.path.realpath(os.path.join(roots.first.path, path))
    directory = os.path.dirname(real)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    with suppress(WorkspaceError, UsageError):
        return _places_inside(closing.enter_context(Roots([directory])), real)
    return []


def _places_inside(roots: Roots, path: str) -> list[tuple[Root, str]]:
    with roots.open_parent(roots.locate(path), create=False) as parent:
        place, missing = parent.location, len(parent.missing)
    names = place.relative.split("/")
    return [(place.root, "/".join(names[: len(names) - level])) for level in range(missing, -1, -1)]


def missing_above(root: Root, paths: Sequence[str]) -> set[str]:
    """The directories that would have to be made for the paths."""
    known: dict[str, bool] = {"": True}
    for path in paths:
        directory = os.path.dirname(path)
        while directory not in known:
            known[directory] = bool(look_at(root, (directory,)).directories)
            directory = os.path.dirname(directory)
    return {directory for directory, exists in known.items() if not exists}


def _is_inside(path: str, root: Root) -> bool:
    return path.startswith(f"{root.real_path.rstrip('/')}/")


def _mark(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
