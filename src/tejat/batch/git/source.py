"""The repository of a task as the source of a mirror: copied from a path, or fetched from a URL."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress

from tejat.batch.git.commands import GitProgram
from tejat.batch.git.environment import closed_environment, fetching_environment
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.git_directory import write_config, write_git_directory
from tejat.batch.git.url import fetch_failure, is_path, shown_url, ssh_variables
from tejat.core.i18n import _
from tejat.workspace.downloads.git import IDLE_SECONDS
from tejat.workspace.downloads.tree import remove_tree
from tejat.workspace.paths.git_repository import git_directories
from tejat.workspace.threads.offload import run_blocking

_UNADVERTISED = re.compile(
    r"not our ref|unadvertised object|couldn't find remote ref|no such remote ref", re.IGNORECASE
)
_CLONE = ("clone", "--bare", "--local", "--no-hardlinks", "--template=", "--no-tags", "--single-branch", "--quiet")
_FETCH = ("fetch", "--no-tags", "--no-write-fetch-head", "--update-shallow", "--progress", "--no-auto-maintenance")
_ALL_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


class MirrorSource:
    """A path or URL that has a commit. Git inherits `shared_fds`."""

    def __init__(self, repo: str, commit: str) -> None:
        self._repo = repo
        self._commit = commit
        self._is_local = is_path(repo)

    async def create(self, path: str, shared_fds: tuple[int, ...]) -> None:
        """Make a new bare repository that has the commit with its history. Raises OSError, RepositoryProblem."""
        if self._is_local and await self._copy(path, shared_fds):
            await run_blocking(lambda _stop: write_config(path, commit=self._commit, is_bare=True))
            if await has_commit(path, self._commit):
                return
        else:
            await run_blocking(lambda _stop: write_git_directory(path, commit=self._commit, is_bare=True))
        await self.complete(path, shared_fds)

    async def complete(self, path: str, shared_fds: tuple[int, ...]) -> None:
        """Fetch the commit and its history into a repository. Raises RepositoryProblem."""
        git = await self._program({"GIT_DIR": path}, shared_fds)
        done = await git.run(*_FETCH, "--", self._repo, self._commit)
        if not done.is_ok and _UNADVERTISED.search(done.stderr):
            # An old server only sends commits of branches and tags.
            done = await git.run(*_FETCH, "--", self._repo, *_ALL_REFS)
        if not done.is_ok:
            raise fetch_failure(self._repo, done)
        if not await has_commit(path, self._commit):
            shown = shown_url(self._repo)
            raise RepositoryProblem(_("{repo} has no commit {commit}.", repo=shown, commit=self._commit))

    async def _copy(self, path: str, shared_fds: tuple[int, ...]) -> bool:
        """Copy a repository file by file, ten times as fast as a fetch. False if the copy cannot be relied on.

        Hard links would change the user's files: their change time and the number of links.
        """
        before = await run_blocking(lambda _stop: _packs(self._repo))
        git = await self._program({}, shared_fds)
        done = await git.run(*_CLONE, "--", self._repo, path)
        if done.is_ok and await run_blocking(lambda _stop: _is_whole(path, self._repo, before)):
            return True
        await run_blocking(lambda _stop: remove(path))
        return False

    async def _program(self, variables: Mapping[str, str], shared_fds: tuple[int, ...]) -> GitProgram:
        environment = fetching_environment(variables, is_local=self._is_local)
        environment |= await ssh_variables(self._repo, environment)
        return GitProgram(environment, idle_seconds=IDLE_SECONDS, shared_fds=shared_fds)


async def has_commit(path: str, commit: str) -> bool:
    """Whether a repository of ours has a commit. Raises RepositoryProblem."""
    git = GitProgram(closed_environment({"GIT_DIR": path}))
    return (await git.run("cat-file", "-e", f"{commit}^{{commit}}")).is_ok


def remove(path: str) -> None:
    """Remove a directory if it is there. Raises OSError."""
    with suppress(FileNotFoundError):
        remove_tree(path)


def _is_whole(path: str, repo: str, packs: set[str]) -> bool:
    """Whether a copy has everything: packs may have changed meanwhile, or others may own the objects."""
    has_alternates = os.path.exists(os.path.join(path, "objects", "info", "alternates"))
    return not has_alternates and _packs(repo) == packs


def _packs(repo: str) -> set[str]:
    """The names of the packs of a local repository."""
    found = git_directories(repo) if os.path.lexists(os.path.join(repo, ".git")) else None
    with suppress(OSError):
        return set(os.listdir(os.path.join(found[2] if found else repo, "objects", "pack")))
    return set()
