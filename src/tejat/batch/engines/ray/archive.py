"""The files of a task as bytes, for a node that does not share the directory of the batch."""

import io
import os
import shutil
import stat
import tarfile
from contextlib import suppress

from tejat.batch.directory import TaskDirectory
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.files.private_files import make_private_directory, open_private_file
from tejat.workspace.files.regular_file import open_fd

MAX_BYTES = 256 * 2**20
_MAX_FILES = 10_000
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UnsafeArchive(Exception):
    """An archive has something other than plain files in it."""


class TaskArchive(Frozen):
    """The files of a task, and the names of those that are cut or left out because they are too large."""

    content: bytes
    shortened: tuple[str, ...] = ()


def pack_task(task: TaskDirectory, *, max_bytes: int = MAX_BYTES) -> TaskArchive:
    """Pack the folder of a task without its working copy. Only regular files are packed.

    The patch comes first, then small files before large ones. A file that does not fit is cut, a patch is left out.
    Raises OSError.
    """
    target, rest, shortened = io.BytesIO(), max_bytes, list[str]()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _files(task):
            with open_fd(path, _READ) as descriptor, os.fdopen(descriptor, "rb", closefd=False) as file:
                size = os.fstat(descriptor).st_size
                kept = min(size, rest)
                if kept < size:
                    shortened.append(os.path.relpath(path, task.path))
                if kept < size and path == task.patch:
                    continue
                member = tarfile.TarInfo(os.path.relpath(path, task.path))
                member.size = kept
                archive.addfile(member, file)
                rest -= kept
    return TaskArchive(target.getvalue(), tuple(shortened))


def unpack_task(content: bytes, task: TaskDirectory) -> None:
    """Unpack into the folder of a task. Files of the same names are replaced. Raises OSError, UnsafeArchive."""
    make_private_directory(task.path)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for count, member in enumerate(archive):
            parts = member.name.split("/")
            file = archive.extractfile(member) if member.isreg() else None
            if file is None or count >= _MAX_FILES or not all(parts) or {".", ".."} & set(parts) or "\0" in member.name:
                raise UnsafeArchive(lazy("Unexpected entry in the files of a task: {name!r}", name=member.name[:100]))
            path = os.path.join(task.path, *parts)
            if len(parts) > 1:
                _make_directories(task.path, parts[:-1])
            with suppress(FileNotFoundError):
                os.unlink(path)
            descriptor = open_private_file(path, _WRITE)
            with os.fdopen(descriptor, "wb") as target:
                shutil.copyfileobj(file, target)


def _files(task: TaskDirectory) -> list[str]:
    """The regular files, in the order in which they are packed."""
    found = list[tuple[bool, int, str]]()
    for folder, folders, names in os.walk(task.path):
        folders[:] = [name for name in folders if os.path.join(folder, name) != task.work]
        for name in names:
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode):
                    found.append((path != task.patch, status.st_size, path))
    return [path for _, _, path in sorted(found)[:_MAX_FILES]]


def _make_directories(root: str, parts: list[str]) -> None:
    # Step by step, because a link on the way would lead out of the folder.
    path = root
    for part in parts:
        path = os.path.join(path, part)
        make_private_directory(path)
