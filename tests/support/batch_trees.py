"""Repositories, mirrors and working copies of a batch for tests."""

import asyncio
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from support.packages import make_repository
from tejat.batch.directory import BatchDirectory, TaskDirectory
from tejat.batch.git.commit import resolve_commit
from tejat.batch.git.mirror import Mirror, open_mirror
from tejat.batch.git.patch import PatchSummary, write_patch
from tejat.batch.git.tree import create_tree
from tejat.batch.task import BatchTask

FILES = {"a.txt": "one\ntwo\n", "src/run.sh*": "#!/bin/sh\n", "src/b.bin": b"\0\1\2" * 20, ".gitignore": "*.log\n"}


class BatchTree:
    """A task's working copy of a new repository."""

    def __init__(self, path: Path, files: Mapping[str, str | bytes] = FILES) -> None:
        self.repo = path / "repo"
        self.commit = make_repository(self.repo, files)
        self.directory = BatchDirectory(str(path / "batch"))
        self.task: TaskDirectory = self.directory.task("task")
        self.mirror: Mirror = asyncio.run(self._create())
        self.tree = Path(self.task.tree)
        self.marker = path / "marker"
        """A file that nothing may create."""

    async def _create(self) -> Mirror:
        task = task_of(self.repo)
        mirror = await open_mirror(task, await resolve_commit(task), self.directory)
        await create_tree(mirror, self.task)
        return mirror

    @property
    def trap(self) -> str:
        """A shell command that creates the marker."""
        return f"touch {self.marker}; cat"

    def write_patch(self) -> PatchSummary:
        return asyncio.run(write_patch(self.mirror, self.task))

    @property
    def patch(self) -> bytes:
        return Path(self.task.patch).read_bytes()


def task_of(repo: Path | str, commit: str = "", *, allows_dirty: bool = False) -> BatchTask:
    return BatchTask("task", str(repo), "Do it.", commit=commit, allows_dirty=allows_dirty)


def contents(directory: Path) -> dict[str, tuple[int, bytes]]:
    """The kind, mode and content of everything below a directory, without `.git` at the top."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(directory.rglob("*")):
        if path.relative_to(directory).parts[0] == ".git":
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[str(path.relative_to(directory))] = stat.S_IFLNK, os.fsencode(path.readlink())
        elif stat.S_ISREG(mode):
            found[str(path.relative_to(directory))] = mode, path.read_bytes()
    return found


def states(directory: Path) -> dict[str, tuple[object, ...]]:
    """All about everything at and below a directory but the time of the last reading."""
    return {str(path): _state(path) for path in (directory, *sorted(directory.rglob("*")))}


def _state(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return (found.st_mode, found.st_size, found.st_nlink, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, content)
