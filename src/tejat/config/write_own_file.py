"""Replaces a small file of ours in one step: whoever reads it finds the old text or the new one, never a part."""

import errno
import os

from tejat.core.errors import UsageError
from tejat.core.words import phrase
from tejat.workspace.draft import CannotNameLate, Draft, Naming, remove_leftovers


def write_own_file(path: str, text: str, *, mode: int = 0o600) -> None:
    """Make this the text of the file, readable for the person alone unless `mode` says otherwise, whatever the umask.

    Raises the OSError of the system, and UsageError where the text is written but may not survive a power cut.
    """
    # Where the file is a link into a collection of such files, it stays one.
    target = os.path.realpath(path)
    directory = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        remove_leftovers(directory)
        try:
            _replace(directory, os.path.basename(target), text.encode(), mode, Naming.LATE)
        except CannotNameLate:
            _replace(directory, os.path.basename(target), text.encode(), mode, Naming.AT_ONCE)
        _flush(directory)
    finally:
        os.close(directory)


def _replace(directory: int, name: str, content: bytes, mode: int, naming: Naming) -> None:
    with Draft(directory, mode=mode, naming=naming) as draft:
        os.fchmod(draft.fd, mode)
        draft.write([content], lambda: None)
        os.fsync(draft.fd)
        draft.publish_over(name)


def _flush(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise UsageError(
                phrase("{why}. The file was written, but a power cut may undo that", why=error.strerror)
            ) from error
