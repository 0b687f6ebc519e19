"""The repository of a task: a path or a git URL, checked by its text alone."""

import os
import re

from tejat.batch.plan.fields import show_value
from tejat.batch.plan.types import InvalidTask
from tejat.batch.result import TaskFailure
from tejat.core.i18n import _

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SCHEMES = ("https", "http", "ssh", "git", "file")
_SCP_LIKE = re.compile(r"[A-Za-z0-9_.+-]+@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(?!:)[^\s]+")
_REMOTE_HELPER = re.compile(r"[A-Za-z0-9_+.-]+::")
_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@")


def resolve_repository(text: str, *, directory: str) -> str:
    """The absolute path or git URL that a task means, paths relative to the directory. Raises InvalidTask."""
    if text.startswith("-"):
        raise _unsupported(_("repo must not begin with a hyphen: {repo}", repo=show_value(text)))
    if _REMOTE_HELPER.match(text):
        raise _unsupported(_("repo names a remote helper, which could run any command: {repo}", repo=show_value(text)))
    if found := _URL.fullmatch(text):
        _check_url(text, scheme=found[1].lower(), rest=found[2])
        return text
    if found := _SCP_LIKE.fullmatch(text):
        if found[1].startswith("-"):
            raise _unsupported(_("repo has a host that begins with a hyphen: {repo}", repo=show_value(text)))
        return text
    path = os.path.abspath(os.path.join(directory, os.path.expanduser(text)))
    check_path(path)
    return path


def check_path(path: str) -> None:
    """Raises InvalidTask for a path that no JSON file can hold."""
    try:
        path.encode()
    except UnicodeEncodeError:
        message = _("The path is not valid UTF-8: {path}. Rename the directory.", path=show_value(path))
        raise InvalidTask(message, TaskFailure.REPOSITORY) from None


def repository_name(repo: str) -> str:
    """The last part of the path, without `.git`."""
    last = re.split(r"[/:]", repo.rstrip("/"))[-1]
    return last.removesuffix(".git") or last


def without_credentials(repo: str) -> str:
    """The repository as a prompt may name it: a URL without user and password."""
    return _CREDENTIALS.sub("", repo, count=1) if _URL.match(repo) else repo


def is_repository(path: str) -> bool:
    """Whether a directory looks like a git repository: a working tree, or a bare one. Raises nothing."""
    if os.path.lexists(os.path.join(path, ".git")):
        return True
    return all(os.path.exists(os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))


def _check_url(text: str, *, scheme: str, rest: str) -> None:
    if scheme not in _SCHEMES:
        known = ", ".join(f"{each}://" for each in _SCHEMES)
        raise _unsupported(
            _("repo has an unsupported scheme: {repo}. Use {known}.", repo=show_value(text), known=known)
        )
    authority = rest.partition("/")[0]
    if authority.rpartition("@")[2].startswith("-") or authority.startswith("-"):
        raise _unsupported(_("repo has a host that begins with a hyphen: {repo}", repo=show_value(text)))
    if not rest.strip("/") or re.search(r"[\x00-\x20\x7f]", rest):
        raise _unsupported(_("repo is not a valid URL: {repo}", repo=show_value(text)))


def _unsupported(message: str) -> InvalidTask:
    return InvalidTask(message, TaskFailure.INPUT)
