"""Conversion of OSError for a path into the WorkspaceError that the model sees."""

import errno
import os
import stat
from collections.abc import Sequence

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.i18n import join_lazy, lazy
from tejat.core.text.str_enum import StrEnum

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255

_SHOWN = 60  # characters of an invalid path in a message
_SPECIAL = lazy("A pipe, socket or device, not a regular file")
_LOOP = lazy("Too many symbolic links, probably a loop")
_DIRECTORY = lazy("Path is a directory, not a file")
_CLOSED = lazy("The workspace is closed")


class PathPurpose(StrEnum):
    """The purpose for which a path was opened."""

    READ = "read"
    LIST = "list"
    WRITE = "write"


def check_path_text(path: str) -> None:
    """Raise WorkspaceError for a path that no file can have: too long, not encodable, a NUL in it."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise unencodable_path_error(path) from error
    # Removing it would use another path than the one that rules, hooks and the user have seen.
    if b"\0" in encoded:
        raise unencodable_path_error(path)
    if len(encoded) <= MAX_NAME_BYTES:
        return
    if len(encoded) > MAX_PATH_BYTES or any(len(name) > MAX_NAME_BYTES for name in encoded.split(b"/")):
        raise path_too_long_error(path)


def path_error(error: OSError, path: str, *, purpose: PathPurpose) -> WorkspaceError:
    """Return the WorkspaceError for `error`. Paths outside the workspace are `outside_workspace_error`."""
    number = error.errno or 0
    if number == errno.ENAMETOOLONG:
        return path_too_long_error(path)
    otherwise = ErrorType.FILE_WRITE_FAILURE if purpose is PathPurpose.WRITE else ErrorType.READ_CONTENT_FAILURE
    error_type, words = _ERRORS.get((number, purpose)) or _ERRORS.get((number, None)) or (otherwise, None)
    return WorkspaceError(join_lazy("", (words or error.strerror or "", ": ", path)), error_type, path=path)


def outside_workspace_error(path: str, directories: Sequence[str]) -> WorkspaceError:
    """The error for a path outside the workspace directories, by its text or through links."""
    message = lazy(
        'Path not in workspace: Attempted path "{path}" resolves outside the allowed workspace directories: '
        "{directories}",
        path=path,
        directories=", ".join(directories),
    )
    return WorkspaceError(message, ErrorType.PATH_NOT_IN_WORKSPACE, path=path, display=lazy("Path not in workspace."))


def path_too_long_error(path: str) -> WorkspaceError:
    """The error for a path or name that is too long for any file; the message shows only its beginning."""
    message = lazy(
        "Path is too long (at most {path_limit} bytes, {name_limit} per name): {path}",
        path_limit=MAX_PATH_BYTES,
        name_limit=MAX_NAME_BYTES,
        path=_shorten(path),
    )
    return WorkspaceError(message, ErrorType.INVALID_TOOL_PARAMS, path=path)


def unencodable_path_error(path: str) -> WorkspaceError:
    """The error for a path with characters that cannot be encoded as a file name."""
    message = lazy("Path contains characters that are not valid in file names: {path}", path=_shorten(ascii(path)))
    return WorkspaceError(message, ErrorType.INVALID_TOOL_PARAMS, path=path)


def not_a_file_error(path: str, status: os.stat_result) -> WorkspaceError:
    """The error for anything but a regular file."""
    if stat.S_ISDIR(status.st_mode):
        return WorkspaceError(join_lazy("", (_DIRECTORY, ": ", path)), ErrorType.TARGET_IS_DIRECTORY, path=path)
    return WorkspaceError(join_lazy("", (_SPECIAL, ": ", path)), ErrorType.SPECIAL_FILE, path=path)


def _shorten(path: str) -> str:
    return path if len(path) <= _SHOWN else f"{path[:_SHOWN]}..."


# A message of None means strerror; a purpose of None is the fallback for all purposes.
_ERRORS: dict[tuple[int, PathPurpose | None], tuple[ErrorType, str | None]] = {
    (errno.ENOENT, None): (ErrorType.FILE_NOT_FOUND, lazy("File not found")),
    (errno.ENOENT, PathPurpose.LIST): (ErrorType.FILE_NOT_FOUND, lazy("Directory not found")),
    (errno.ENOTDIR, PathPurpose.READ): (ErrorType.FILE_NOT_FOUND, lazy("File not found: part of its path is a file")),
    (errno.ENOTDIR, PathPurpose.LIST): (ErrorType.PATH_IS_NOT_A_DIRECTORY, lazy("Path is not a directory")),
    (errno.ENOTDIR, PathPurpose.WRITE): (
        ErrorType.FILE_WRITE_FAILURE,
        lazy("Part of the path is a file, not a directory"),
    ),
    (errno.EISDIR, None): (ErrorType.TARGET_IS_DIRECTORY, _DIRECTORY),
    (errno.ELOOP, PathPurpose.WRITE): (ErrorType.FILE_WRITE_FAILURE, _LOOP),
    (errno.ELOOP, None): (ErrorType.READ_CONTENT_FAILURE, _LOOP),
    (errno.EBADF, PathPurpose.WRITE): (ErrorType.FILE_WRITE_FAILURE, _CLOSED),
    (errno.EBADF, None): (ErrorType.READ_CONTENT_FAILURE, _CLOSED),
    (errno.EACCES, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.EPERM, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.EROFS, None): (ErrorType.PERMISSION_DENIED, None),
    (errno.ENOSPC, None): (ErrorType.NO_SPACE_LEFT, None),
    (errno.EDQUOT, None): (ErrorType.NO_SPACE_LEFT, None),
    (errno.ENXIO, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
    (errno.ENODEV, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
    (errno.EOPNOTSUPP, None): (ErrorType.SPECIAL_FILE, _SPECIAL),
}
