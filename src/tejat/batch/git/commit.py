"""The commit that a task starts from."""

import re

from tejat.batch.git.commands import GitProgram
from tejat.batch.git.environment import fetching_environment
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.url import fetch_failure, is_path, shown_url, ssh_variables
from tejat.batch.git.user_repository import COMMIT, count_changes, find_user_repository
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask
from tejat.core.i18n import _, ngettext
from tejat.core.sanitize import sanitize_line
from tejat.workspace.downloads.git import IDLE_SECONDS

# What git would take for an option, a range or a pattern.
_BAD_NAME = re.compile(r"^-|^$|[\s:?*\[\\\x00-\x1f\x7f]|\.\.")


async def resolve_commit(task: BatchTask) -> str:
    """The hash of the commit that a task starts from.

    The user's repository is only read. Raises RepositoryProblem, also for uncommitted changes, unless the task names a
    commit or allows them.
    """
    revision = task.commit or "HEAD"
    if _BAD_NAME.search(revision):
        raise RepositoryProblem(_("{commit} is not a valid commit, branch or tag.", commit=_quoted(revision)))
    if not is_path(task.repo):
        return await _resolve_remote(task.repo, revision)
    repository = await find_user_repository(task.repo, revision)
    path = sanitize_line(task.repo)
    if not repository.commit:
        if not task.commit:
            raise RepositoryProblem(_("{repo} has no commits yet.", repo=path))
        raise RepositoryProblem(_("{repo} has no commit {commit}.", repo=path, commit=_quoted(revision)))
    if task.commit or task.allows_dirty or repository.is_bare:
        return repository.commit
    count = await count_changes(repository)
    if count:
        message = ngettext(
            "{repo} has {count} uncommitted change. Commit or stash it, set `commit` in the task, or use --allow-dirty "
            "to start from the last commit without it.",
            "{repo} has {count} uncommitted changes. Commit or stash them, set `commit` in the task, or use "
            "--allow-dirty to start from the last commit without them.",
            count,
            repo=path,
        )
        raise RepositoryProblem(message, TaskFailure.DIRTY)
    return repository.commit


async def _resolve_remote(repo: str, revision: str) -> str:
    if COMMIT.fullmatch(revision):
        return revision
    environment = fetching_environment({}, is_local=False)
    environment |= await ssh_variables(repo, environment)
    git = GitProgram(environment, idle_seconds=IDLE_SECONDS)
    done = await git.run("ls-remote", "--quiet", "--", repo, revision, f"{revision}^{{}}")
    if not done.is_ok:
        raise fetch_failure(repo, done)
    lines = (line.partition("\t") for line in done.text.split("\n"))
    found = {name: commit for commit, _tab, name in lines}
    names = (f"refs/heads/{revision}", f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}", revision)
    commit = next((found[name] for name in names if name in found), "")
    if COMMIT.fullmatch(commit):
        return commit
    if revision == "HEAD":
        raise RepositoryProblem(_("{repo} has no commits yet.", repo=shown_url(repo)))
    raise RepositoryProblem(
        _(
            "{repo} has no branch or tag {commit}. A commit needs its full hash.",
            repo=shown_url(repo),
            commit=_quoted(revision),
        )
    )


def _quoted(revision: str) -> str:
    return sanitize_line(f"'{revision}'")
