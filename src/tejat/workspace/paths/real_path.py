"""Resolution of the links in a path while others change it."""

import errno
import os

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.i18n import lazy
from tejat.workspace.files.system_calls import O_PATH

_MAX_ATTEMPTS = 100
# What `os.path.realpath` raises when an entry is no link any more when it is read, or gone.
_CHANGED = frozenset((errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.ESTALE))


def real_path(path: str) -> str:
    """Resolve a path like `os.path.realpath`, again if it changes meanwhile.

    Raises WorkspaceError(PATH_NOT_IN_WORKSPACE) if it never holds still: nobody can say where it leads. Raises
    ValueError for a path with a NUL.
    """
    if (found := _ask_kernel(path)) is not None:
        return found
    for _ in range(_MAX_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno not in _CHANGED:
                raise
    message = lazy("The path keeps changing and cannot be resolved: {path}", path=path)
    raise WorkspaceError(message, ErrorType.PATH_NOT_IN_WORKSPACE, path=path, display=lazy("Path not in workspace."))


def _ask_kernel(path: str) -> str | None:
    """Return the path of what exists, in three system calls instead of one for each name; None if that is unknown."""
    if not O_PATH:
        return None
    try:
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The text is another one for a file that was deleted meanwhile, or lies outside of a chroot.
        found = os.readlink(f"/proc/self/fd/{descriptor}")
        return found if found.startswith("/") and not found.endswith(" (deleted)") else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
