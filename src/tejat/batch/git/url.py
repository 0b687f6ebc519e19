"""Addresses of repositories: paths or URLs, and what went wrong when one was fetched."""

import os
import re
from collections.abc import Mapping

from tejat.batch.git.commands import GitOutput, GitProgram
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.result import TaskFailure
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line

_SSH = re.compile(r"(?:git\+)?ssh(?:\+git)?://|[^/:]+:(?!/?/)")
_PASSWORD = re.compile(r"(?<=://)[^/@]*@")
_OFFLINE = re.compile(
    r"Could not resolve host|Connection (?:timed out|refused|reset|closed)|Network is unreachable|early EOF|"
    r"Failed to connect|Operation timed out|returned error: (?:429|5\d\d)|the remote end hung up|"
    r"Temporary failure in name resolution|HTTP/2 stream|RPC failed|SSL_ERROR_SYSCALL|unexpected disconnect",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|Permission denied|Host key verification failed|"
    r"terminal prompts disabled|returned error: (?:401|403)",
    re.IGNORECASE,
)
_OWNER = re.compile(r"dubious ownership")


def is_path(repo: str) -> bool:
    """Whether a repository is given by its path."""
    return os.path.isabs(repo)


def shown_url(repo: str) -> str:
    """The address without a password, in one line."""
    return sanitize_line(_PASSWORD.sub("", repo))


async def ssh_variables(repo: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that keep ssh from asking, unless the user has a command of their own for it."""
    if is_path(repo) or not _SSH.match(repo) or {"GIT_SSH", "GIT_SSH_COMMAND"} & environment.keys():
        return {}
    if (await GitProgram(environment).run("config", "--get", "core.sshCommand")).is_ok:
        return {}
    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=30"}


def fetch_failure(repo: str, done: GitOutput) -> RepositoryProblem:
    """The problem of a repository that git could not read."""
    shown, reason = shown_url(repo), _PASSWORD.sub("", done.reason)
    if _OFFLINE.search(done.stderr):
        message = _("{repo} could not be reached: {reason}", repo=shown, reason=reason)
        return RepositoryProblem(message, TaskFailure.SERVICE)
    if _OWNER.search(done.stderr):
        return owner_problem(repo)
    if _DENIED.search(done.stderr):
        return RepositoryProblem(
            _(
                "{repo} refused access: {reason}. Check that `git ls-remote {repo}` works without a prompt.",
                repo=shown,
                reason=reason,
            )
        )
    return RepositoryProblem(_("{repo} could not be fetched: {reason}", repo=shown, reason=reason))


def owner_problem(repo: str) -> RepositoryProblem:
    """The problem of a repository that belongs to another user."""
    return RepositoryProblem(
        _(
            "{repo} belongs to another user, so git refuses to use it. If you trust it, run "
            "`git config --global --add safe.directory {repo}`.",
            repo=shown_url(repo).removeprefix("file://"),
        )
    )
