"""What the model is told about a path."""

import errno
import os

import pytest

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.path_errors import (
    PathPurpose,
    not_a_file_error,
    outside_workspace_error,
    path_error,
    path_too_long_error,
    unencodable_path_error,
)


def error_fields(error: WorkspaceError) -> tuple[str, ErrorType, str, str]:
    return error.message, error.error_type, error.path, error.display


@pytest.mark.parametrize(
    ("number", "purpose", "error_type", "words"),
    [
        (errno.EBADF, PathPurpose.READ, ErrorType.READ_CONTENT_FAILURE, "The workspace is closed"),
        (errno.EBADF, PathPurpose.WRITE, ErrorType.FILE_WRITE_FAILURE, "The workspace is closed"),
        (errno.ENOENT, PathPurpose.READ, ErrorType.FILE_NOT_FOUND, "File not found"),
        (errno.ENOENT, PathPurpose.WRITE, ErrorType.FILE_NOT_FOUND, "File not found"),
        (errno.ENOENT, PathPurpose.LIST, ErrorType.FILE_NOT_FOUND, "Directory not found"),
        (errno.ENOTDIR, PathPurpose.READ, ErrorType.FILE_NOT_FOUND, "File not found: part of its path is a file"),
        (errno.ENOTDIR, PathPurpose.LIST, ErrorType.PATH_IS_NOT_A_DIRECTORY, "Path is not a directory"),
        (
            errno.ENOTDIR,
            PathPurpose.WRITE,
            ErrorType.FILE_WRITE_FAILURE,
            "Part of the path is a file, not a directory",
        ),
        (errno.EISDIR, PathPurpose.READ, ErrorType.TARGET_IS_DIRECTORY, "Path is a directory, not a file"),
        (errno.ELOOP, PathPurpose.READ, ErrorType.READ_CONTENT_FAILURE, "Too many symbolic links, probably a loop"),
        (errno.ELOOP, PathPurpose.LIST, ErrorType.READ_CONTENT_FAILURE, "Too many symbolic links, probably a loop"),
        (errno.ELOOP, PathPurpose.WRITE, ErrorType.FILE_WRITE_FAILURE, "Too many symbolic links, probably a loop"),
        (errno.EACCES, PathPurpose.READ, ErrorType.PERMISSION_DENIED, os.strerror(errno.EACCES)),
        (errno.EPERM, PathPurpose.WRITE, ErrorType.PERMISSION_DENIED, os.strerror(errno.EPERM)),
        (errno.EROFS, PathPurpose.WRITE, ErrorType.PERMISSION_DENIED, os.strerror(errno.EROFS)),
        (errno.ENOSPC, PathPurpose.WRITE, ErrorType.NO_SPACE_LEFT, os.strerror(errno.ENOSPC)),
        (errno.EDQUOT, PathPurpose.WRITE, ErrorType.NO_SPACE_LEFT, os.strerror(errno.EDQUOT)),
        (errno.EIO, PathPurpose.READ, ErrorType.READ_CONTENT_FAILURE, os.strerror(errno.EIO)),
        (errno.EMFILE, PathPurpose.LIST, ErrorType.READ_CONTENT_FAILURE, os.strerror(errno.EMFILE)),
        (errno.EIO, PathPurpose.WRITE, ErrorType.FILE_WRITE_FAILURE, os.strerror(errno.EIO)),
    ],
)
def test_every_answer_of_the_system_has_a_type_and_names_the_path(
    number: int, purpose: PathPurpose, error_type: ErrorType, words: str
) -> None:
    failure = path_error(OSError(number, os.strerror(number), "an inner name"), "/r/f", purpose=purpose)
    assert error_fields(failure) == (f"{words}: /r/f", error_type, "/r/f", f"{words}: /r/f")


@pytest.mark.parametrize("number", [errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP])
def test_what_cannot_be_opened_as_a_file_is_special(number: int) -> None:
    failure = path_error(OSError(number, os.strerror(number)), "/r/socket", purpose=PathPurpose.READ)
    assert failure.error_type is ErrorType.SPECIAL_FILE
    assert failure.message.endswith(": /r/socket")


def test_the_words_for_outside_are_those_of_the_contract() -> None:
    message = (
        'Path not in workspace: Attempted path "../x" resolves outside the allowed workspace directories: /one, /two'
    )
    expected = (message, ErrorType.PATH_NOT_IN_WORKSPACE, "../x", "Path not in workspace.")
    assert error_fields(outside_workspace_error("../x", ["/one", "/two"])) == expected


def test_a_long_path_is_cut_in_the_message() -> None:
    failure = path_too_long_error("x" * 5000)
    assert failure.message.endswith(f": {'x' * 60}...")
    assert len(failure.message) < 200
    assert failure.error_type is ErrorType.INVALID_TOOL_PARAMS
    answered = path_error(OSError(errno.ENAMETOOLONG, "File name too long"), "x" * 5000, purpose=PathPurpose.READ)
    assert error_fields(answered) == error_fields(failure)


def test_what_cannot_be_encoded_is_shown_in_ascii() -> None:
    failure = unencodable_path_error("a\ud800")
    assert failure.message == r"Path contains characters that are not valid in file names: 'a\ud800'"
    assert failure.error_type is ErrorType.INVALID_TOOL_PARAMS


def test_a_directory_is_told_from_a_device() -> None:
    assert not_a_file_error("/dev", os.stat("/dev")).error_type is ErrorType.TARGET_IS_DIRECTORY
    assert not_a_file_error("/dev/null", os.stat("/dev/null")).error_type is ErrorType.SPECIAL_FILE
