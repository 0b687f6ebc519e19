"""Whole directories put into their place in one step: whoever looks sees the old one or the new one."""

import ctypes
import errno
import os
import re
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.workspace.downloads.tree import remove_tree
from tejat.workspace.files.private_files import sync_directory
from tejat.workspace.files.regular_file import open_fd

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_STAGING = re.compile(r"\.tejat-([1-9][0-9]{0,9})-[0-9a-f]{16}\.staging")


@contextmanager
def staging_directory(parent: str) -> Generator[str]:
    """A new private directory in `parent`, which is removed at the end. Those of killed processes are removed first.

    Raises OSError.
    """
    remove_stale_staging(parent)
    path = os.path.join(parent, f".tejat-{os.getpid()}-{os.urandom(8).hex()}.staging")
    os.mkdir(path, 0o700)
    try:
        os.chmod(path, 0o700)
        yield path
    finally:
        with suppress(FileNotFoundError):
            remove_tree(path)


def remove_stale_staging(parent: str) -> None:
    """Remove directories of `staging_directory` whose process is gone. Raises nothing."""
    with suppress(OSError):
        for name in os.listdir(parent):
            found = _STAGING.fullmatch(name)
            if found is not None and not _is_running(int(found[1])):
                with suppress(OSError):
                    remove_tree(os.path.join(parent, name))


def put_in_place(tree: str, place: str) -> None:
    """Move a directory to a place that is free or an empty directory.

    Raises FileExistsError if it is taken, and OSError.
    """
    try:
        os.rename(tree, place)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place) from error
        raise
    _sync_parents(tree, place)


def exchange_directories(one: str, other: str) -> None:
    """Exchange two directories on the same file system. Raises OSError; then both are where they were.

    Where the system cannot do it in one step, the second is missing for a moment.
    """
    number = _exchange(os.fsencode(one), os.fsencode(other))
    if number in _UNSUPPORTED:
        _exchange_in_steps(one, other)
    elif number:
        raise OSError(number, os.strerror(number), other)
    _sync_parents(one, other)


def move_tree(source: str, target: str) -> None:
    """Move a directory to a free place, on another file system as a copy. Raises OSError; then nothing is there."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        try:
            shutil.copytree(source, target, symlinks=True)
        except BaseException:
            with suppress(OSError):
                remove_tree(target)
            raise
        remove_tree(source)


def _exchange(one: bytes, other: bytes) -> int:
    """The error number of an exchange in one step, 0 if it succeeded."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(one, other, _RENAME_EXCHANGE)  # RENAME_SWAP has the same number
    else:
        return errno.ENOSYS
    return ctypes.get_errno() if failed else 0


def _exchange_in_steps(one: str, other: str) -> None:
    aside = f"{one}.aside"
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except BaseException:
        os.rename(aside, other)
        raise
    os.rename(aside, one)


def _sync_parents(*paths: str) -> None:
    for parent in {os.path.dirname(path) for path in paths}:
        with suppress(OSError), open_fd(parent, os.O_RDONLY | os.O_DIRECTORY) as directory:
            sync_directory(directory)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
