"""The patch of a task: everything that the agent changed, committed or not."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from tejat.batch.directory import TaskDirectory
from tejat.batch.git.commands import GitOutput, GitProgram
from tejat.batch.git.errors import RepositoryProblem, system_problem
from tejat.batch.git.git_directory import open_output, read_file, write_file
from tejat.batch.git.mirror import Mirror
from tejat.batch.git.tree import BASE_FILE, SUBMODULES_FILE, copy_index, tree_environment
from tejat.batch.git.tree_scan import MAX_FILE_BYTES, HiddenRepositories, ScannedTree, scan_tree
from tejat.batch.result import TaskFailure
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import _, ngettext
from tejat.core.sanitize import sanitize_line, sanitize_summary
from tejat.workspace.files.private_files import replace_private_file
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

_DIFF = (
    *("diff-index", "--cached", "--raw", "--numstat", "--patch", "--binary", "--full-index", "--abbrev=64"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--diff-algorithm=default", "--no-indent-heuristic"),
)
_NO_CONVERSION = b"* -text -eol -ident -filter -working-tree-encoding\n"
_MAX_SHOWN = 5
_MEGABYTE = 1024 * 1024
_PARTIAL = 1


class PatchSummary(Frozen):
    """The size of a patch. `warnings` name what it leaves out."""

    files_changed: int
    lines_added: int
    lines_removed: int
    warnings: tuple[str, ...] = field(default_factory=tuple[str, ...])

    @property
    def is_empty(self) -> bool:
        return not self.files_changed


async def write_patch(mirror: Mirror, task: TaskDirectory) -> PatchSummary:
    """Write `patch.diff`, or remove it if nothing changed.

    Git gets nothing from the repository in the tree, which the agent may have changed: no settings, hooks, filters or
    nested repositories. The tree stays as it is, except for named pipes that git would open. Raises
    RepositoryProblem.
    """
    hidden = HiddenRepositories(os.path.join(task.git, "hidden"))
    # Each call has its own index: a killed one may have left the lock of its index.
    index = os.path.join(task.git, f"index.{os.urandom(8).hex()}")
    try:
        tree, scanned = await run_blocking(lambda stop: _prepare(task, index, hidden, stop))
        return await _Patch(mirror, task, index, tree, scanned).write()
    except OSError as error:
        raise system_problem(error) from error
    finally:
        hidden.restore()
        with suppress(FileNotFoundError):
            os.unlink(index)


def _prepare(task: TaskDirectory, index: str, hidden: HiddenRepositories, stop: StopToken) -> tuple[str, ScannedTree]:
    """The tree to compare, made safe for git, and what is in it. Without a tree it is an empty directory."""
    copy_index(os.path.join(task.git, "index"), index)
    try:
        is_tree = stat.S_ISDIR(os.lstat(task.tree).st_mode)
    except FileNotFoundError:
        is_tree = False
    os.makedirs(_empty(task), exist_ok=True)
    if not is_tree:
        return _empty(task), ScannedTree()
    return task.tree, scan_tree(task.tree, hidden, stop)


def _empty(task: TaskDirectory) -> str:
    return os.path.join(task.git, "empty")


class _Patch:
    def __init__(self, mirror: Mirror, task: TaskDirectory, index: str, tree: str, scanned: ScannedTree) -> None:
        self._task = task
        self._index = index
        self._tree = tree
        self._scanned = scanned
        self._base = (_read(task, BASE_FILE) or mirror.commit.encode()).decode().strip()
        self._submodules = [name for name in _read(task, SUBMODULES_FILE).split(b"\0") if name]
        places = {"GIT_INDEX_FILE": index}
        self._adding = GitProgram(tree_environment(task, {**places, "GIT_WORK_TREE": tree}))
        # What is in the index is compared, so git need not look at the tree.
        self._comparing = GitProgram(tree_environment(task, {**places, "GIT_WORK_TREE": _empty(task)}))

    async def write(self) -> PatchSummary:
        errors = await self._add()
        with open_output(self._task.git) as file:
            done = await self._comparing.run(*_DIFF, self._base, "--", stdout=file.fileno())
            if not done.is_ok:
                raise _failed(done)
            return await run_blocking(lambda _stop: self._finish(file, errors))

    async def _add(self) -> list[str]:
        """Put all changes into the index. Returns what git could not read."""
        added = await self._run_add()
        if added.code not in (0, _PARTIAL):
            # Attributes that the agent wrote may ask for conversions that fail: then the bytes are taken as they are.
            attributes = os.path.join(self._task.git, "info", "attributes")
            os.makedirs(os.path.dirname(attributes), exist_ok=True)
            write_file(attributes, _NO_CONVERSION)
            try:
                copy_index(os.path.join(self._task.git, "index"), self._index)
                added = await self._run_add()
            finally:
                os.unlink(attributes)
        if added.code not in (0, _PARTIAL):
            raise _failed(added)
        return [line for line in added.stderr.split("\n") if line.startswith(("error: ", "warning: could not"))]

    async def _run_add(self) -> GitOutput:
        left_out = (*self._scanned.large_files, *self._submodules)
        patterns = b"".join(b":(exclude,literal)" + name + b"\0" for name in left_out)
        words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
        return await self._adding.run(*words, stdin=b":/\0" + patterns)

    def _finish(self, file: IO[bytes], errors: list[str]) -> PatchSummary:
        """Read the numbers that come first, and put the rest in its place."""
        file.seek(0)
        files = added = removed = 0
        for line in file:
            if line == b"\n":
                break
            if not line.startswith(b":"):
                first, second, _name = line.split(b"\t", 2)
                files += 1
                added += int(first) if first.isdigit() else 0
                removed += int(second) if second.isdigit() else 0
        warnings = tuple(self._warnings(errors))
        if not files:
            with suppress(FileNotFoundError):
                os.unlink(self._task.patch)
            return PatchSummary(0, 0, 0, warnings)
        with (
            replace_private_file(self._task.patch, follow_symlinks=False) as target,
            open(target, "wb", closefd=False) as out,
        ):
            shutil.copyfileobj(file, out)
        return PatchSummary(files, added, removed, warnings)

    def _warnings(self, errors: list[str]) -> Iterator[str]:
        """What the patch leaves out."""
        large = self._scanned.large_files
        if large:
            limit = f"{MAX_FILE_BYTES // _MEGABYTE} MB"
            yield _("Not in the patch, larger than {limit}: {files}", limit=limit, files=_shown(large))
        if self._scanned.unreadable:
            yield _("Not in the patch, unreadable: {files}", files=_shown(self._scanned.unreadable))
        filled = [name for name in self._submodules if _has_entries(os.path.join(os.fsencode(self._tree), name))]
        if filled:
            yield _("Not in the patch, in a submodule: {files}", files=_shown(filled))
        if self._scanned.repositories:
            names = _shown(self._scanned.repositories)
            yield _("Nested repositories are in the patch without their history: {files}", files=names)
        if errors:
            reasons = "; ".join(errors[:_MAX_SHOWN])
            yield _("Not in the patch, because git refused it: {reasons}", reasons=sanitize_summary(reasons))


def _shown(names: Sequence[bytes]) -> str:
    shown = ", ".join(sanitize_line(os.fsdecode(name)) for name in names[:_MAX_SHOWN])
    rest = len(names) - _MAX_SHOWN
    return shown if rest <= 0 else ngettext("{names} and {count} more", "{names} and {count} more", rest, names=shown)


def _has_entries(directory: bytes) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is not None
    except OSError:
        return os.path.lexists(directory)


def _read(task: TaskDirectory, name: str) -> bytes:
    return read_file(os.path.join(task.git, name))


def _failed(done: GitOutput) -> RepositoryProblem:
    return RepositoryProblem(_("The patch could not be made: {reason}", reason=done.reason), TaskFailure.INTERNAL)
