"""Turns what the system answers about a path into what the model is told."""

import errno
import os
import stat
from collections.abc import Sequence
from enum import Enum

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.words import joined, phrase

PATH_LIMIT = 4096
NAME_LIMIT = 255

_SHOWN = 60  # characters of a path that is itself what is wrong
_SPECIAL = phrase("Not a regular file but a pipe, socket or device, which is never opened")
_LOOP = phrase("Too many symbolic links, probably a loop")
_DIRECTORY = phrase("Path is a directory, not a file")


class Purpose(Enum):
    """What a path was opened for."""

    READ = "read"
    LIST = "list"
    WRITE = "write"


def failure_of(error: OSError, path: str, *, purpose: Purpose) -> WorkspaceError:
    """What to raise from `error`. Leaving the workspace is not known here: see `outside`."""
    number = error.errno or 0
    if number == errno.ENAMETOOLONG:
        return too_long(path)
    otherwise = ErrorType.FILE_WRITE_FAILURE if purpose is Purpose.WRITE else ErrorType.READ_CONTENT_FAILURE
    error_type, words = _MEANINGS.get((number, purpose)) or _MEANINGS.get((number, None)) or (otherwise, None)
    return WorkspaceError(joined("", (words or error.strerror or "", ": ", path)), error_type, path=path)


def outside(path: str, directories: Sequence[str]) -> WorkspaceError:
    """For a path that is in none of the workspace directories, or whose links lead out of them."""
    message = phrase(
        'Path not in workspace: Attempted path "{path}" resolves outside the allowed workspace directories: '
        "{directories}",
        path=path,
        directories=", ".join(directories),
    )
    return WorkspaceError(message, ErrorType.PATH_NOT_IN_WORKSPACE, path=path, display=phrase("Path not in workspace."))


def too_long(path: str) -> WorkspaceError:
    """For a path or a name in it that no file can have; the message shows only the beginning of it."""
    message = phrase(
        "Path is too long (at most {path_limit} bytes, and {name_limit} for each name in it): {path}",
        path_limit=PATH_LIMIT,
        name_limit=NAME_LIMIT,
        path=_beginning(path),
    )
    return WorkspaceError(message, ErrorType.INVALID_TOOL_PARAMS, path=path)


def not_encodable(path: str) -> WorkspaceError:
    """For a path with characters that have no bytes in the encoding of file names."""
    message = phrase("Path has characters that no file name can have: {path}", path=_beginning(ascii(path)))
    return WorkspaceError(message, ErrorType.INVALID_TOOL_PARAMS, path=path)


def not_a_file(path: str, status: os.stat_result) -> WorkspaceError:
    """For something else than a regular file where one is needed."""
    if stat.S_ISDIR(status.st_mode):
        return WorkspaceError(joined("", (_DIRECTORY, ": ", path)), ErrorType.TARGET_IS_DIRECTORY, path=path)
    return WorkspaceError(joined("", (_SPECIAL, ": ", path)), ErrorType.SPECIAL_FILE, path=path)


def _beginning(path: str) -> str:
    return path if len(path) <= _SHOWN else f"{path[:_SHOWN]}..."


# Without words the system's own are used; without a purpose an entry is for all that have none of their own.
_MEANINGS: dict[tuple[int, Purpose | None], tuple[ErrorType, str | None]] = {
    (errno.ENOENT, None): (ErrorType.FILE_NOT_FOUND, phrase("File not found")),
    (errno.ENOENT, Purpose.LIST): (ErrorType.FILE_NOT_FOUND, phrase("Directory not found")),
    (errno.ENOTDIR, Purpose.READ): (ErrorType.FILE_NOT_FOUND, phrase("File not found, a part of its path is a file")),
    (errno.ENOTDIR, Purpose.LIST): (ErrorType.PATH_IS_NOT_A_DIRECTORY, phrase("Path is not a directory")),
    (errno.ENOTDIR, Purpose.WRITE): (
        ErrorType.FILE_WRITE_FAILURE,
        phrase("A part of the path is a file, not a directory"),
    ),
    (errno.EISDIR, None): (ErrorType.TARGET_IS_DIRECTORY, _DIRECTORY),
    (errno.ELOOP, Purpose.WRITE): (ErrorType.FILE_WRITE_FAILURE, _LOOP),
    (errno.ELOOP, None): (ErrorType.READ_CONTENT_FAILURE, _LOOP),
    (errno.EACCES, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.EPERM, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.EROFS, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.ENOSPC, None): (ErrorType.NO_SPACE_LEFT, None),
    (errno.EDQUOT, None): (ErrorType.NO_SPACE_LEFT, None),
    (errno.ENXIO, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
    (errno.ENODEV, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
    (errno.EOPNOTSUPP, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
}
