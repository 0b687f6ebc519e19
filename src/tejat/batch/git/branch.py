"""Branches of the user's repository, made from patches without touching its working tree and index."""

import os
import tempfile

from tejat.batch.git.commands import GitOutput, GitProgram
from tejat.batch.git.environment import committing_environment
from tejat.batch.git.errors import RepositoryProblem, system_problem
from tejat.batch.git.url import is_path, shown_url
from tejat.batch.git.user_repository import COMMIT, find_user_repository
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line


async def create_branch(repo: str, *, commit: str, patch: str, branch: str, message: str) -> str:
    """Commit a patch on top of a commit as a new branch, and return the new commit.

    Hooks do not run, and an existing branch is refused. Raises RepositoryProblem.
    """
    if not is_path(repo):
        text = _("{repo} is a URL. Branches can only be made in a repository on this machine.", repo=shown_url(repo))
        raise RepositoryProblem(text)
    found = await find_user_repository(repo, commit if COMMIT.fullmatch(commit) else "HEAD")
    if found.commit != commit:
        shown = sanitize_line(repo)
        raise RepositoryProblem(
            _("{repo} has no commit {commit}. Fetch it first.", repo=shown, commit=sanitize_line(commit))
        )
    try:
        with tempfile.TemporaryDirectory(prefix="tejat-apply-") as empty:
            git = _program(found.git_directory, empty)
            return await _Branch(git, branch).create(found.commit, _absolute(patch), message)
    except OSError as error:
        raise system_problem(error) from error


def _program(git_directory: str, empty: str) -> GitProgram:
    """Git with an index of its own. As its working tree serves an empty directory."""
    index = os.path.join(empty, "index")
    places = {"GIT_DIR": git_directory, "GIT_WORK_TREE": empty, "GIT_INDEX_FILE": index}
    return GitProgram(committing_environment(places), directory=empty)


def _absolute(path: str) -> str:
    return os.path.abspath(path)


class _Branch:
    def __init__(self, git: GitProgram, name: str) -> None:
        self._git = git
        self._name = name
        self._ref = f"refs/heads/{name}"

    async def create(self, commit: str, patch: str, message: str) -> str:
        await self._check_name()
        await self._run("read-tree", commit)
        applied = await self._git.run("apply", "--cached", "--whitespace=nowarn", "--", patch)
        if not applied.is_ok:
            shown, reason = sanitize_line(patch), applied.reason
            raise RepositoryProblem(
                _("{patch} does not apply to commit {commit}: {reason}", patch=shown, commit=commit, reason=reason)
            )
        tree = await self._run("write-tree")
        made = await self._commit(tree, commit, message)
        await self._create_ref(made)
        return made

    async def _check_name(self) -> None:
        shown = sanitize_line(self._name)
        # Without this, names such as `-f` and `@{-1}` would mean something else.
        valid = not self._name.startswith("-") and (await self._git.run("check-ref-format", self._ref)).is_ok
        if not valid:
            raise RepositoryProblem(_("{branch} is not a valid branch name.", branch=f"'{shown}'"))
        if (await self._git.run("rev-parse", "--verify", "--quiet", self._ref)).is_ok:
            raise self._exists()

    async def _commit(self, tree: str, parent: str, message: str) -> str:
        text = message.encode("utf-8", "replace")
        done = await self._git.run("commit-tree", tree, "-p", parent, "-F", "-", stdin=text or b"\n")
        if done.is_ok:
            return done.text
        if "user.useConfigOnly" in done.stderr or "tell me who you are" in done.stderr or "ident name" in done.stderr:
            raise RepositoryProblem(
                _(
                    'git has no name and address for the commit. Run `git config --global user.name "Your Name"` and '
                    "`git config --global user.email you@example.com`."
                )
            )
        raise _failed(done)

    async def _create_ref(self, commit: str) -> None:
        done = await self._git.run("update-ref", "-m", "tejat batch apply", self._ref, commit, "0" * len(commit))
        if done.is_ok:
            return
        if "reference already exists" in done.stderr:
            raise self._exists()
        shown = sanitize_line(self._name)
        raise RepositoryProblem(_("Branch {branch} could not be created: {reason}", branch=shown, reason=done.reason))

    async def _run(self, *words: str) -> str:
        done = await self._git.run(*words)
        if not done.is_ok:
            raise _failed(done)
        return done.text

    def _exists(self) -> RepositoryProblem:
        text = _("Branch {branch} already exists. Delete it, or choose another name.", branch=sanitize_line(self._name))
        return RepositoryProblem(text)


def _failed(done: GitOutput) -> RepositoryProblem:
    return RepositoryProblem(_("The branch could not be created: {reason}", reason=done.reason))
