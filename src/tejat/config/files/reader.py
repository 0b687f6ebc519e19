"""Reading of small configuration files, except those that others can write."""

import errno
import os
import stat

from tejat.config.paths import MACHINE_DIRECTORIES, SourceTier
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum

MAX_BYTES = 2**20
"""The limit for a file of a project. The program's own files are compacted when they become longer."""
MAX_TRUSTED_BYTES = 8 * 2**20
"""The limit for a file of the user or the administrator."""
_MIN_PIECE = 2**16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class AllowedWriters(StrEnum):
    """Who may have write access to a configuration file."""

    ROOT = "root"
    """Only root: the file belongs to the machine, and its rules must not be lost or changed by a user."""
    TRUSTED = "trusted"
    """Only the user, or root."""
    ANYONE = "anyone"

    @property
    def max_bytes(self) -> int:
        return MAX_BYTES if self is AllowedWriters.ANYONE else MAX_TRUSTED_BYTES


def allowed_writers(path: str, tier: SourceTier) -> AllowedWriters:
    """Who may have write access to a configuration file or directory of this tier."""
    if tier is SourceTier.WORKSPACE:
        return AllowedWriters.ANYONE
    is_of_machine = tier is SourceTier.ADMIN and path.startswith(tuple(f"{each}/" for each in MACHINE_DIRECTORIES))
    return AllowedWriters.ROOT if is_of_machine else AllowedWriters.TRUSTED


def read_config_file(path: str, *, writers: AllowedWriters) -> str | None:
    """Read a text file, without a byte order mark; None if it does not exist.

    Raises ConfigurationError if it cannot be read, is not a regular file, is too long, is not UTF-8, or is open to
    other writers than allowed. A dangling link is an error.
    """
    content = read_config_bytes(path, writers=writers)
    return None if content is None else _decode(content, path)


def read_config_bytes(path: str, *, writers: AllowedWriters) -> bytes | None:
    """Read a file like `read_config_file`, whatever its encoding."""
    try:
        if writers is AllowedWriters.ROOT:
            if not path_exists(path):
                return None
            # Whoever may write to the directory may replace the file.
            _check_root_only(os.stat(os.path.dirname(path)), os.path.dirname(path))
        # Opening a named pipe must not block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return _read_content(descriptor, path, writers)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and not path_exists(path):
            return None
        raise _read_error(path, error) from error


def list_config_directory(path: str, *, writers: AllowedWriters) -> list[str]:
    """The sorted names in a directory, empty if it does not exist.

    Raises ConfigurationError if it cannot be read, is not a directory, or is open to other writers than allowed.
    """
    if not path_exists(path):
        return []
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            check_status(os.fstat(descriptor), path, writers)
            return sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _read_error(path, error) from error


def path_exists(path: str) -> bool:
    """Whether the path exists. Raises ConfigurationError if that cannot be determined."""
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise _read_error(path, error) from error
    return True


def _read_content(descriptor: int, path: str, writers: AllowedWriters) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        message = lazy("Could not read {path}: not a regular file.", path=path)
        raise ConfigurationError(message, path=path, fix=("mv", path, f"{path}.old"))
    check_status(status, path, writers)
    limit = writers.max_bytes
    content = b""
    while len(content) <= limit:
        # Room for the whole file and no more: memory for the limit takes longer to get than most files to read.
        piece = os.read(descriptor, min(max(status.st_size + 1, _MIN_PIECE), limit + 1 - len(content)))
        if not piece:
            return content
        content += piece
    message = lazy(
        "Could not read {path}: larger than {size} MiB. Remove what you do not need.",
        path=path,
        size=limit // 2**20,
    )
    raise ConfigurationError(message, path=path)


def check_status(status: os.stat_result, path: str, writers: AllowedWriters) -> None:
    """Raise ConfigurationError if the file or directory is open to other writers than allowed."""
    match writers:
        case AllowedWriters.ROOT:
            _check_root_only(status, path)
        case AllowedWriters.TRUSTED:
            check_writers(status, path)
        case AllowedWriters.ANYONE:
            pass


def _check_root_only(status: os.stat_result, path: str) -> None:
    """Raise ConfigurationError unless the file or directory belongs to root and nobody else may write to it."""
    if status.st_uid != 0:
        raise ConfigurationError(
            lazy("Refusing to use {path}: not owned by root. Fix it with: sudo chown root {path}", path=path),
            path=path,
            fix=("sudo", "chown", "root", path),
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigurationError(
            lazy(
                "Refusing to use {path}: writable by users other than root. Fix it with: sudo chmod go-w {path}",
                path=path,
            ),
            path=path,
            fix=("sudo", "chmod", "go-w", path),
        )


def check_writers(status: os.stat_result, path: str) -> None:
    """Raise ConfigurationError if the file or directory belongs to another user, or everybody may write to it."""
    if status.st_uid not in (0, os.geteuid()):
        raise ConfigurationError(
            lazy("Refusing to use {path}: owned by another user (uid {number}).", path=path, number=status.st_uid),
            path=path,
            fix=("sudo", "chown", str(os.geteuid()), path),
        )
    if status.st_mode & stat.S_IWOTH and not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX):
        raise ConfigurationError(
            lazy("Refusing to use {path}: writable by everyone. Fix it with: chmod o-w {path}", path=path),
            path=path,
            fix=("chmod", "o-w", path),
        )


def _decode(content: bytes, path: str) -> str:
    content = content.removeprefix(_BYTE_ORDER_MARK)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            lazy("Could not read {path}: not UTF-8 (line {line}).", path=path, line=line), path=path, line=line
        ) from None


def _read_error(path: str, error: OSError) -> ConfigurationError:
    fixes = {errno.EACCES: ("chmod", "u+r", path), errno.ENOENT: ("rm", path)}
    message = lazy("Could not read {path}: {why}.", path=path, why=error.strerror)
    return ConfigurationError(message, path=path, fix=fixes.get(error.errno or 0, ()))
