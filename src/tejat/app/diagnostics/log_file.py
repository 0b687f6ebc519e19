"""The log file: unexpected exceptions with their tracebacks, secrets masked."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from tejat.app.run_config import find_secrets
from tejat.config.files.directory import make_private_directory
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.log import attached_handler, is_debugging, masked_secrets, report_unexpected
from tejat.core.text.secret_mask import mask_tokens
from tejat.engine.calls.secret_mask import SecretMask
from tejat.workspace.files.private_files import open_private_file

if TYPE_CHECKING:
    import logging

MAX_LOG_BYTES = 1_000_000
KEPT_LOGS = 3

_open_files: "dict[str, LogFile]" = {}


class LogFile:
    """A private file, which is created with the first record and rotated when it is full.

    A record that cannot be written is lost: the log must never disturb the run. If the directory `is_own`, it is
    created and closed to others.
    """

    def __init__(self, path: str, secrets: Mapping[str, str], *, is_own: bool = True) -> None:
        self.path = path
        self._is_own = is_own
        self._secrets = dict(secrets)
        self._mask = SecretMask(secrets)

    def add_secrets(self, secrets: Mapping[str, str]) -> None:
        """Mask these as well from now on."""
        self._secrets |= secrets
        self._mask = SecretMask(self._secrets)

    def append(self, text: str) -> None:
        """Append a formatted record."""
        with suppress(OSError, UsageError):
            line = mask_tokens(self._mask.mask_text(text))
            self._write(f"{line}\n".encode(errors="backslashreplace"))

    def _write(self, content: bytes) -> None:
        path = self.path
        if self._is_own:
            make_private_directory(os.path.dirname(path))
        with suppress(FileNotFoundError):
            if os.stat(path).st_size + len(content) > MAX_LOG_BYTES:
                _rotate(path)
        descriptor = open_private_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)


def _rotate(path: str) -> None:
    """Keep the newest old logs as `.1` to `.3`."""
    names = [path, *(f"{path}.{number}" for number in range(1, KEPT_LOGS + 1))]
    for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
        with suppress(FileNotFoundError):
            os.replace(newer, older)


@contextmanager
def open_log(paths: AppPaths, secrets: Mapping[str, str]) -> Generator[None]:
    """Log to the user's log file meanwhile, exceptions of background tasks too.

    If it is open already, these secrets are masked in it too. Raises UsageError if the user has chosen a file for debug
    messages that cannot be written.
    """
    with masked_secrets(SecretMask(secrets).mask_text), _open_handler(paths, secrets):
        yield


@contextmanager
def _open_handler(paths: AppPaths, secrets: Mapping[str, str]) -> Generator[None]:
    chosen = paths.debug_log if is_debugging() else None
    path = chosen or paths.log
    known = _open_files.get(path)
    if known is not None:
        known.add_secrets(secrets)
        yield
        return
    if chosen is not None:
        _check_writable(chosen)
    file = _open_files[path] = LogFile(path, secrets, is_own=chosen is None)
    try:
        with attached_handler(partial(_make_handler, file)):
            yield
    finally:
        del _open_files[path]


def _make_handler(file: LogFile) -> "logging.Handler":
    from tejat.app.diagnostics.log_file_handler import LogFileHandler

    return LogFileHandler(file)


def _check_writable(path: str) -> None:
    """Raises UsageError."""
    try:
        os.close(open_private_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
    except OSError as error:
        message = _("Could not write {path} (GEMINI_DEBUG_LOG_FILE): {why}.", path=path, why=error.strerror)
        raise UsageError(message) from None


def report_crash(error: BaseException, environment: Mapping[str, str]) -> str:
    """Log an exception that ends the program, and return the sentence for the user."""
    paths = app_paths(environment)
    try:
        with open_log(paths, find_secrets(environment)):
            return report_unexpected(error, "tejat")
    except UsageError:
        with open_log(replace(paths, debug_log=None), find_secrets(environment)):
            return report_unexpected(error, "tejat")
