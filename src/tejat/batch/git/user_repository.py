"""The user's repository on this machine, looked at without writing to it or running anything of it."""

import os
import re

from tejat.batch.git.commands import GitProgram
from tejat.batch.git.environment import reading_environment
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.url import owner_problem
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.workspace.paths.git_programs import find_git_programs
from tejat.workspace.threads.offload import run_blocking

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full hash."""
_LOCAL_SCOPES = ("local", "worktree")
_FILTER_KEYS = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


class UserRepository(Frozen):
    """A repository of the user. `commit` is the hash that was asked for, empty if there is none."""

    path: str
    git_directory: str
    is_bare: bool
    commit: str


async def find_user_repository(path: str, revision: str = "HEAD") -> UserRepository:
    """The repository at a path, which is its top directory or a bare one. Raises RepositoryProblem.

    `revision` must not begin with a hyphen.
    """
    shown = sanitize_line(path)
    await run_blocking(lambda _stop: _check_directory(path))
    # A path may have several lines, so it comes last.
    questions = ("--is-bare-repository", "--is-inside-work-tree", "--show-prefix", "--absolute-git-dir")
    git = GitProgram(reading_environment(), directory=path)
    found = await git.run("rev-parse", *questions, f"{revision}^{{commit}}")
    answers = found.text.split("\n")
    if len(answers) < len(questions):
        if "dubious ownership" in found.stderr:
            raise owner_problem(path)
        if "not a git repository" in found.stderr:
            message = _("{path} is not a git repository. Create one with `git init`, and commit.", path=shown)
            raise RepositoryProblem(message)
        raise RepositoryProblem(_("{path} cannot be used: {reason}", path=shown, reason=found.reason))
    is_bare, is_inside, prefix, *rest = answers
    if prefix:
        raise await run_blocking(lambda _stop: _subdirectory(path, prefix))
    if is_bare != "true" and is_inside != "true":
        raise RepositoryProblem(_("{path} is inside a git directory. Use the directory above it.", path=shown))
    commit = rest.pop() if found.is_ok else ""
    # The name of a file is no commit, but git prints it, too.
    known = commit if COMMIT.fullmatch(commit) else ""
    return UserRepository(path, "\n".join(rest), is_bare == "true", known)


def _check_directory(path: str) -> None:
    if os.path.isdir(path):
        return
    shown = sanitize_line(path)
    if os.path.lexists(path):
        raise RepositoryProblem(_("{path} is not a directory.", path=shown))
    raise RepositoryProblem(_("{path} does not exist.", path=shown))


def _subdirectory(path: str, prefix: str) -> RepositoryProblem:
    top = os.path.realpath(path).removesuffix(f"/{prefix.rstrip('/')}")
    return RepositoryProblem(
        _(
            "{path} is a subdirectory of the repository {top}. Use {top}.",
            path=sanitize_line(path),
            top=sanitize_line(top),
        )
    )


async def count_changes(repository: UserRepository) -> int:
    """The number of changed and untracked files in the working tree. Raises RepositoryProblem."""
    settings = await _filter_settings(repository)
    git = GitProgram(reading_environment(settings), directory=repository.path)
    words = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames")
    done = await git.run(*words)
    if not done.is_ok:
        path = sanitize_line(repository.path)
        raise RepositoryProblem(_("{path} cannot be used: {reason}", path=path, reason=done.reason))
    return done.stdout.count(b"\0")


async def _filter_settings(repository: UserRepository) -> list[tuple[str, str]]:
    """Settings that switch off the filters in the repository's own configuration."""
    if not await run_blocking(lambda _stop: find_git_programs(repository.path)):
        return []
    git = GitProgram(reading_environment(), directory=repository.path)
    listed = (await git.run("config", "--list", "--show-scope", "--name-only", "--null")).text.split("\0")
    pairs = zip(listed[::2], listed[1::2], strict=False)
    keys = [key for scope, key in pairs if scope in _LOCAL_SCOPES and key.startswith("filter.")]
    drivers = dict.fromkeys(key.removeprefix("filter.").rpartition(".")[0] for key in keys)
    return [(f"filter.{driver}.{key}", value) for driver in drivers for key, value in _FILTER_KEYS]
