"""Resolution of the links in a path while others change it."""

import errno
import os

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.i18n import lazy

_MAX_ATTEMPTS = 100
# What `os.path.realpath` raises when an entry is no link any more when it is read, or gone.
_CHANGED = frozenset((errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.ESTALE))


def real_path(path: str) -> str:
    """Resolve a path like `os.path.realpath`, again if it changes meanwhile.

    Raises WorkspaceError(PATH_NOT_IN_WORKSPACE) if it never holds still: nobody can say where it leads. Raises
    ValueError for a path with a NUL.
    """
    for _ in range(_MAX_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno not in _CHANGED:
                raise
    message = lazy("The path keeps changing and cannot be resolved: {path}", path=path)
    raise WorkspaceError(message, ErrorType.PATH_NOT_IN_WORKSPACE, path=path, display=lazy("Path not in workspace."))
