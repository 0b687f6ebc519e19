"""Bundles: a commit with its history in one file, for another machine."""

import os
from typing import IO

from tejat.batch.git.commands import GitProgram
from tejat.batch.git.environment import closed_environment
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.git_directory import read_shallow
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.threads.offload import run_blocking

_SIGNATURE = b"# v2 git bundle"
_SHALLOW = b"# shallow "
_MAX_HEADER = 16 * 1024 * 1024


async def export_commit(repository: str, commit: str, path: str) -> None:
    """Write a commit and its history into a file. Raises OSError, RepositoryProblem.

    The file is a git bundle. If the history is not complete, lines before it name the commits without parents.
    """
    git = GitProgram(closed_environment({"GIT_DIR": repository}))
    words = ("pack-objects", "--revs", "--stdout", "--delta-base-offset", "--quiet")
    with await run_blocking(lambda _stop: _start_file(path, repository, commit)) as file:
        done = await git.run(*words, stdin=f"{commit}\n".encode(), stdout=file.fileno())
    if not done.is_ok:
        raise RepositoryProblem(_("The repository could not be bundled: {reason}", reason=done.reason))


async def import_bundle(path: str, repository: str, *, shared_fds: tuple[int, ...]) -> None:
    """Put the objects of a file that `export_commit` wrote into a repository. Raises OSError, RepositoryProblem."""
    file, shallow = await run_blocking(lambda _stop: _open_file(path))
    with file:
        git = GitProgram(closed_environment({"GIT_DIR": repository}), shared_fds=shared_fds)
        done = await git.run("index-pack", "--stdin", stdin=file.fileno())
    if not done.is_ok:
        raise RepositoryProblem(_("The bundle could not be read: {reason}", reason=done.reason))
    if shallow:
        await run_blocking(lambda _stop: _add_shallow(repository, shallow))


def _start_file(path: str, repository: str, commit: str) -> IO[bytes]:
    lines = [_SHALLOW + each for each in read_shallow(repository).split()]
    header = (*lines, _SIGNATURE, f"{commit} refs/batch/{commit}".encode(), b"", b"")
    file = open(path, "wb", buffering=0)  # noqa: SIM115 -- closed by the caller
    try:
        file.write(b"\n".join(header))
    except BaseException:
        file.close()
        raise
    return file


def _open_file(path: str) -> tuple[IO[bytes], list[bytes]]:
    """The file at the beginning of its objects, and the commits without parents."""
    file = open(path, "rb", buffering=0)  # noqa: SIM115 -- closed by the caller
    try:
        header, end, _objects = os.pread(file.fileno(), _MAX_HEADER, 0).partition(b"\n\n")
        lines = header.split(b"\n")
        if not end or _SIGNATURE not in lines:
            raise RepositoryProblem(_("{path} is not a bundle.", path=sanitize_line(path)))
        file.seek(len(header) + len(end))
    except BaseException:
        file.close()
        raise
    return file, [line.removeprefix(_SHALLOW) for line in lines if line.startswith(_SHALLOW)]


def _add_shallow(repository: str, commits: list[bytes]) -> None:
    known = dict.fromkeys((*read_shallow(repository).split(), *commits))
    write_private_file(os.path.join(repository, "shallow"), b"".join(each + b"\n" for each in known))
