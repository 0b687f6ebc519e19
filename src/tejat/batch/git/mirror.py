"""Mirrors of repositories: bare copies in the directory of the batch, from which all working copies are made."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from tejat.batch.directory import BatchDirectory
from tejat.batch.git.bundle import export_commit, import_bundle
from tejat.batch.git.errors import RepositoryProblem, system_problem
from tejat.batch.git.git_directory import write_git_directory
from tejat.batch.git.source import MirrorSource, has_commit, remove
from tejat.batch.git.user_repository import COMMIT
from tejat.batch.task import BatchTask
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.core.text.digest import sha256
from tejat.workspace.downloads.placement import put_in_place
from tejat.workspace.files.file_lock import open_lock_file, release_lock, try_lock
from tejat.workspace.files.private_files import make_private_directory, write_private_file
from tejat.workspace.threads.offload import run_blocking

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_READABLE_LENGTH = 40
_FIRST_PAUSE = 0.002
_MAX_PAUSE = 0.05

_Step: TypeAlias = Callable[[str, tuple[int, ...]], Awaitable[None]]
"""Fills a mirror, given its path and the descriptors that git inherits."""


class Mirror(Frozen):
    """A bare repository that has a commit with all of its history. It is only read."""

    path: str
    commit: str


def mirror_key(repo: str) -> str:
    """The name of a repository's mirror: readable and unique."""
    name = repo.rstrip("/").removesuffix(".git").rstrip("/").rpartition("/")[2].rpartition(":")[2]
    readable = _NOT_PLAIN.sub("-", name).strip("-.")[:_READABLE_LENGTH]
    digest = sha256(repo.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable}-{digest}" if readable else digest


async def open_mirror(task: BatchTask, commit: str, directory: BatchDirectory) -> Mirror:
    """The mirror of a task's repository, made or completed if necessary.

    Any number of processes and coroutines may ask for the same one. Raises RepositoryProblem.
    """
    source = MirrorSource(task.repo, commit)
    return await _open(commit, directory, mirror_key(task.repo), source.create, source.complete)


async def mirror_from_bundle(bundle: str, commit: str, directory: BatchDirectory, key: str) -> Mirror:
    """The mirror of that key, with the commit from a file that `write_bundle` made. Raises RepositoryProblem."""

    async def create(path: str, shared_fds: tuple[int, ...]) -> None:
        await run_blocking(lambda _stop: write_git_directory(path, commit=commit, is_bare=True))
        await complete(path, shared_fds)

    async def complete(path: str, shared_fds: tuple[int, ...]) -> None:
        await import_bundle(bundle, path, shared_fds=shared_fds)
        if not await has_commit(path, commit):
            raise RepositoryProblem(_("The bundle has no commit {commit}.", commit=commit))

    return await _open(commit, directory, key, create, complete)


async def write_bundle(mirror: Mirror, path: str) -> None:
    """Write the commit of a mirror and its history into a file, for `mirror_from_bundle`. Raises RepositoryProblem."""
    try:
        await export_commit(mirror.path, mirror.commit, path)
    except OSError as error:
        raise system_problem(error) from error


async def _open(commit: str, directory: BatchDirectory, key: str, create: _Step, complete: _Step) -> Mirror:
    if not COMMIT.fullmatch(commit):
        raise RepositoryProblem(_("{commit} is not a full commit hash.", commit=f"'{sanitize_line(commit)}'"))
    mirror = Mirror(os.path.join(directory.repositories, f"{key}.git"), commit)
    if _is_ready(mirror):
        return mirror
    try:
        make_private_directory(directory.repositories)
        async with _locked(mirror) as lock:
            if lock is not None:
                await _fill(mirror, create, complete, lock)
    except OSError as error:
        raise system_problem(error) from error
    return mirror


@asynccontextmanager
async def _locked(mirror: Mirror) -> AsyncGenerator[int | None]:
    """The exclusive lock of a mirror, or None once it is ready. Raises OSError.

    Waiting takes no thread: hundreds of tasks may wait for one repository.
    """
    descriptor = open_lock_file(f"{mirror.path.removesuffix('.git')}.lock")
    pause = _FIRST_PAUSE
    try:
        while not (is_locked := try_lock(descriptor)) and not _is_ready(mirror):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)
        try:
            yield descriptor if is_locked and not _is_ready(mirror) else None
        finally:
            if is_locked:
                release_lock(descriptor)
    finally:
        os.close(descriptor)


async def _fill(mirror: Mirror, create: _Step, complete: _Step, lock: int) -> None:
    if not await run_blocking(lambda _stop: os.path.isdir(mirror.path)):
        await _create(mirror, create, lock)
    elif not await has_commit(mirror.path, mirror.commit):
        await run_blocking(lambda _stop: _remove_stale_lock(mirror))
        await complete(mirror.path, (lock,))
    await run_blocking(lambda _stop: _write_mark(mirror))


async def _create(mirror: Mirror, create: _Step, lock: int) -> None:
    """Make a mirror under another name first, so that it is whole or missing. Whatever has that name is stale."""
    staging = f"{mirror.path}.new"
    await run_blocking(lambda _stop: remove(staging))
    try:
        await create(staging, (lock,))
        await run_blocking(lambda _stop: put_in_place(staging, mirror.path))
    except BaseException:
        with suppress(OSError):
            remove(staging)
        raise


def _is_ready(mirror: Mirror) -> bool:
    # The mark is written last, so nothing else need be checked.
    return os.path.exists(_mark(mirror))


def _mark(mirror: Mirror) -> str:
    """A reference to the commit: it is there with all of its history."""
    return os.path.join(mirror.path, "refs", "batch", mirror.commit)


def _write_mark(mirror: Mirror) -> None:
    mark = _mark(mirror)
    os.makedirs(os.path.dirname(mark), exist_ok=True)
    write_private_file(mark, f"{mirror.commit}\n")


def _remove_stale_lock(mirror: Mirror) -> None:
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(mirror.path, "shallow.lock"))
