"""Working copies of tasks: a repository of their own for the agent, and an index that the agent cannot reach."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from tejat.batch.directory import TaskDirectory
from tejat.batch.git.commands import GitProgram
from tejat.batch.git.environment import closed_environment
from tejat.batch.git.errors import RepositoryProblem, system_problem
from tejat.batch.git.git_directory import open_output, read_file, read_shallow, write_file, write_git_directory
from tejat.batch.git.mirror import Mirror
from tejat.core.i18n import _
from tejat.workspace.downloads.tree import remove_tree
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.threads.offload import run_blocking

BASE_FILE = "base"
"""In the git directory of a task: the tree that patches are made against, if it is not that of the commit."""
SUBMODULES_FILE = "submodules"
"""The names of the submodules, each with a NUL."""
_SUBMODULE_MODE = b"\x00\x00\xe0\x00"


async def create_tree(mirror: Mirror, task: TaskDirectory) -> None:
    """Check out the commit of a mirror, replacing what an earlier attempt left.

    Filters and hooks do not run, and submodules stay empty. Raises RepositoryProblem.
    """
    try:
        await run_blocking(lambda _stop: _write_directories(mirror, task))
        git = GitProgram(tree_environment(task))
        done = await git.run("read-tree", "--reset", "-u", mirror.commit)
        if not done.is_ok:
            message = _("Commit {commit} could not be checked out: {reason}", commit=mirror.commit, reason=done.reason)
            raise RepositoryProblem(message)
        if await run_blocking(lambda _stop: _copy_index(task)):
            await _remove_submodules(git, task)
    except OSError as error:
        raise system_problem(error) from error


def tree_environment(task: TaskDirectory, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of git for the tree of a task, without anything that the agent can change."""
    places = {"GIT_DIR": task.git, "GIT_WORK_TREE": task.tree}
    return closed_environment({**places, **(variables or {})})


def _write_directories(mirror: Mirror, task: TaskDirectory) -> None:
    make_private_directory(task.work)
    for path in (task.tree, task.git):
        with suppress(FileNotFoundError):
            remove_tree(path)
    os.mkdir(task.tree)
    objects = os.path.join(mirror.path, "objects")
    shallow = read_shallow(mirror.path)
    for path in (task.git, os.path.join(task.tree, ".git")):
        write_git_directory(path, commit=mirror.commit, objects=objects, shallow=shallow)


def _copy_index(task: TaskDirectory) -> bool:
    """Give the agent's repository the index too; return whether it may have submodules."""
    ours = os.path.join(task.git, "index")
    copy_index(ours, os.path.join(task.tree, ".git", "index"))
    return _SUBMODULE_MODE in read_file(ours)


def copy_index(source: str, target: str) -> None:
    """Copy an index with its time, by which git recognizes files that changed in the same moment. Raises OSError."""
    shutil.copyfile(source, target)
    status = os.stat(source)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


async def _remove_submodules(git: GitProgram, task: TaskDirectory) -> None:
    """Remove submodules from our index: git would run commands in a repository that the agent put there."""
    with open_output(task.git) as file:
        await git.run("ls-files", "--stage", "-z", stdout=file.fileno())
        names = await run_blocking(lambda _stop: _submodule_names(file))
    if not names:
        return
    removed = await git.run("update-index", "--force-remove", "-z", "--stdin", stdin=names)
    base = await git.run("write-tree") if removed.is_ok else removed
    if not base.is_ok:
        raise RepositoryProblem(_("The submodules of the commit could not be left out: {reason}", reason=base.reason))
    write_file(os.path.join(task.git, SUBMODULES_FILE), names)
    write_file(os.path.join(task.git, BASE_FILE), base.stdout)


def _submodule_names(listed: IO[bytes]) -> bytes:
    """The names of submodules, each with a NUL, in the output of `ls-files --stage -z`."""
    listed.seek(0)
    entries = (entry.partition(b"\t") for entry in listed.read().split(b"\0"))
    return b"".join(name + b"\0" for facts, _tab, name in entries if facts.startswith(b"160000 "))
