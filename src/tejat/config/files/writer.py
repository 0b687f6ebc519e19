"""Replaces a small file of ours in one step: whoever reads it finds the old text or the new one, never a part."""

import errno
import os

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy
from tejat.workspace.files.temp_file import DeferredNamingUnsupported, TempFile, TempFileNaming, remove_stale_temp_files


def write_private_file(path: str, text: str, *, mode: int = 0o600) -> None:
    """Make this the text of the file, readable for the person alone unless `mode` says otherwise, whatever the umask.

    Raises the OSError of the system, and UsageError where the text is written but may not survive a power cut.
    """
    # Where the file is a link into a collection of such files, it stays one.
    target = os.path.realpath(path)
    directory = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        remove_stale_temp_files(directory)
        try:
            _replace(directory, os.path.basename(target), text.encode(), mode, TempFileNaming.DEFERRED)
        except DeferredNamingUnsupported:
            _replace(directory, os.path.basename(target), text.encode(), mode, TempFileNaming.IMMEDIATE)
        _flush(directory)
    finally:
        os.close(directory)


def _replace(directory: int, name: str, content: bytes, mode: int, naming: TempFileNaming) -> None:
    with TempFile(directory, mode=mode, naming=naming) as draft:
        os.fchmod(draft.fd, mode)
        draft.write([content], lambda: None)
        os.fsync(draft.fd)
        draft.rename_over(name)


def _flush(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        # There are file systems that cannot flush a directory.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise UsageError(
                gettext_lazy("{why}. The file was written, but a power cut may undo that", why=error.strerror)
            ) from error
