"""The git repository of a directory: its working tree, index, ignore files and branch."""

import os
import re
import sys
from collections.abc import Sequence
from functools import lru_cache

from tejat.core.frozen import Frozen
from tejat.workspace.files.regular_file import open_fd

_MAX_POINTER_BYTES = 64 * 1024
_SHORT_COMMIT = 7
_MAX_CONFIG_BYTES = 256 * 1024


class GitRepository(Frozen):
    """A working tree. All paths are absolute."""

    work_tree: str
    index_path: str
    exclude_path: str
    """The repository's ignore file outside the tree (`info/exclude`)."""
    user_excludes_path: str | None
    """The user's ignore file (`core.excludesFile`)."""


def find_git_repository(directory: str) -> GitRepository | None:
    """Find the repository of a directory by the nearest `.git` at or above it."""
    top = _find_work_tree(directory)
    if top is None:
        return None
    own = _git_directory(top)
    common = _common_directory(own)
    return GitRepository(
        work_tree=top,
        index_path=os.path.join(own, "index"),
        exclude_path=os.path.join(common, "info", "exclude"),
        user_excludes_path=_user_excludes_path(top, own=own, common=common),
    )


def git_directories(directory: str) -> tuple[str, str, str] | None:
    """Return the top of the working tree, its git directory and the one it shares with other working trees."""
    top = _find_work_tree(directory)
    if top is None:
        return None
    own = _git_directory(top)
    return top, own, _common_directory(own)


def current_branch(directory: str) -> str:
    """Return the checked-out branch, else an abbreviated commit; "" without a repository.

    Reads files without running git. Raises nothing.
    """
    top = _find_work_tree(directory)
    if top is None:
        return ""
    head = _read_start(os.path.join(_git_directory(top), "HEAD")).decode("utf-8", "replace").strip()
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:_SHORT_COMMIT] if re.fullmatch(r"[0-9a-f]{40,64}", head) else ""


def _find_work_tree(directory: str) -> str | None:
    """Return the nearest directory at or above this one with a `.git`."""
    top = directory
    while not os.path.lexists(os.path.join(top, ".git")):
        parent = os.path.dirname(top)
        if parent == top:
            return None
        top = parent
    return top


def _git_directory(top: str) -> str:
    """Return `.git` itself or, in a linked working tree or a submodule, the directory that the file `.git` names."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    keyword, _, target = _read_start(path).partition(b":")
    if keyword != b"gitdir":
        return path
    return os.path.join(top, os.fsdecode(target.strip(b" ").rstrip(b"\r\n")))


def _common_directory(own: str) -> str:
    pointer = _read_start(os.path.join(own, "commondir"))
    return os.path.join(own, os.fsdecode(pointer.rstrip(b"\r\n"))) if pointer else own


def _read_start(path: str) -> bytes:
    try:
        with open_fd(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            return os.read(descriptor, _MAX_POINTER_BYTES)
    except OSError:
        return b""


def _user_excludes_path(top: str, *, own: str, common: str) -> str | None:
    home = os.environ.get("HOME", "")
    settings = os.environ.get("XDG_CONFIG_HOME", "") or (os.path.join(home, ".config") if home else "")
    files = (
        "/etc/gitconfig",
        os.path.join(home, ".gitconfig"),
        os.path.join(settings, "git", "config"),
        os.path.join(common, "config"),
        os.path.join(own, "config.worktree"),
    )
    configured = _query_excludes_file(top, files, (home, settings, *map(_stat_signature, files)))
    if configured is None:
        return os.path.join(settings, "git", "ignore") if settings else None
    return os.path.join(top, configured) if configured else None


def _stat_signature(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=64)
def _query_excludes_file(top: str, files: Sequence[str], state: tuple[object, ...]) -> str | None:
    """Return the value of `core.excludesFile`, None if unset. Cached until a configuration file changes."""
    from tejat.workspace.helper_program import find_program, run_helper
    from tejat.workspace.threads.stop import never_stop

    del state
    git = find_program("git")
    # Only git can evaluate its configuration, but starting it takes as long as everything else here.
    if git is None or not any(map(_may_set_excludes_file, (*files, _system_config_of(git)))):
        return None
    answer = bytearray()
    question = [git, "config", "--null", "--path", "--get", "core.excludesFile"]
    try:
        with (
            open_fd(top, os.O_RDONLY | os.O_DIRECTORY) as directory,
            run_helper(question, directory_fd=directory) as child,
        ):
            while block := child.read(never_stop):
                answer += block
            if child.exit_code(never_stop) != 0:
                return None
    except OSError:
        return None
    return os.fsdecode(bytes(answer.rstrip(b"\0")))


def _system_config_of(git: str) -> str:
    """Return the system configuration file of a git that the system did not install."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(git))), "etc", "gitconfig")


def _may_set_excludes_file(file: str) -> bool:
    """Whether the file, or one it includes, may have the setting. Apple's git has further files."""
    if sys.platform == "darwin":
        return True
    try:
        with open_fd(file, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            content = os.read(descriptor, _MAX_CONFIG_BYTES + 1).lower()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return len(content) > _MAX_CONFIG_BYTES or b"excludesfile" in content or b"include" in content
