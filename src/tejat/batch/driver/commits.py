"""The commits that tasks start from: looked up once, and the same in every later run of the batch."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import append_line
from tejat.batch.git.commit import resolve_commit
from tejat.batch.task import BatchTask
from tejat.core.json_text import dump_json, load_json
from tejat.workspace.files.private_files import open_private_file
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_CACHED = 256


class CommitStore:
    """The hash of each started task, in `commits.jsonl`: a branch may move before the batch is continued.

    Only those of unfinished tasks are in memory. Tasks with the same repository and commit share one lookup.
    """

    def __init__(self, directory: BatchDirectory) -> None:
        self._path = os.path.join(directory.path, "commits.jsonl")
        self._descriptor = -1
        self._known: dict[str, tuple[str, str, str]] = {}
        self._lookups: dict[tuple[str, str, bool], asyncio.Task[str]] = {}

    def load(self, is_unfinished: Callable[[str], bool]) -> None:
        """Read the commits of unfinished tasks, given their ids. Damaged lines are left out. Raises OSError."""
        try:
            file = open(self._path, "rb", opener=regular_file_opener)  # noqa: SIM115 -- closed below
        except FileNotFoundError:
            return
        with file:
            for line in file:
                with suppress(ValueError):
                    match load_json(line):
                        case {"id": str(name), "repo": str(repo), "ref": str(ref), "commit": str(commit)}:
                            if is_unfinished(name):
                                self._known[name] = repo, ref, commit
                        case _:
                            pass

    async def find(self, task: BatchTask) -> str:
        """The hash of a task's commit. Raises RepositoryProblem, OSError if it cannot be stored."""
        repo, ref, commit = self._known.get(task.id, ("", "", ""))
        if (repo, ref) == (task.repo, task.commit):
            return commit
        commit = await self._resolve(task)
        self._append(task, commit)
        self._known[task.id] = task.repo, task.commit, commit
        return commit

    def forget(self, task_id: str) -> None:
        """Drop the commit of a finished task from memory."""
        self._known.pop(task_id, None)

    async def close(self) -> None:
        """End the lookups that nobody waits for any more."""
        lookups = [lookup for lookup in self._lookups.values() if not lookup.done()]
        for lookup in lookups:
            lookup.cancel()
        await asyncio.gather(*lookups, return_exceptions=True)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    async def _resolve(self, task: BatchTask) -> str:
        key = (task.repo, task.commit, task.allows_dirty)
        lookup = self._lookups.get(key)
        if lookup is None:
            while len(self._lookups) >= _MAX_CACHED:
                oldest = next((each for each, found in self._lookups.items() if found.done()), None)
                if oldest is None:
                    break
                del self._lookups[oldest]
            lookup = self._lookups[key] = asyncio.ensure_future(resolve_commit(task))
            lookup.add_done_callback(lambda done: self._drop_failed(key, done))
        return await asyncio.shield(lookup)

    def _drop_failed(self, key: tuple[str, str, bool], lookup: "asyncio.Task[str]") -> None:
        """A failure may be gone for the next task."""
        if lookup.cancelled() or lookup.exception() is not None:
            self._lookups.pop(key, None)

    def _append(self, task: BatchTask, commit: str) -> None:
        """Raises OSError."""
        prefix = b""
        if self._descriptor < 0:
            self._descriptor = open_private_file(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            prefix = missing_line_end(self._descriptor)
        entry = {"id": task.id, "repo": task.repo, "ref": task.commit, "commit": commit}
        append_line(self._descriptor, prefix + dump_json(entry).encode() + b"\n")


def missing_line_end(descriptor: int) -> bytes:
    """A line end if a killed process has cut the last line off, else nothing. Raises OSError."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
