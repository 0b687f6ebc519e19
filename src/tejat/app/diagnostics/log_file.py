"""The log file: unexpected exceptions with their tracebacks, secrets masked."""

import logging
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from tejat.app.run_config import find_secrets
from tejat.config.files.directory import make_private_directory
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.log import is_debugging, logger, masked_secrets, report_unexpected
from tejat.core.text.secret_mask import mask_tokens
from tejat.engine.calls.secret_mask import SecretMask
from tejat.workspace.files.private_files import open_private_file

MAX_LOG_BYTES = 1_000_000
KEPT_LOGS = 3
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class LogFileHandler(logging.Handler):
    """Appends records to a private file, which is created with the first record and rotated when it is full.

    A record that cannot be written is lost: the log must never disturb the run. If the directory `is_own`, it is
    created and closed to others.
    """

    def __init__(self, path: str, secrets: Mapping[str, str], *, is_own: bool = True) -> None:
        super().__init__()
        self.baseFilename = path
        self._is_own = is_own
        self._secrets = dict(secrets)
        self._mask = SecretMask(secrets)
        self.setFormatter(logging.Formatter(_FORMAT))

    def add_secrets(self, secrets: Mapping[str, str]) -> None:
        """Mask these as well from now on."""
        self._secrets |= secrets
        self._mask = SecretMask(self._secrets)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.ERROR and record.name.startswith(f"{logger.name}.") and not is_debugging():
            return  # what runs and calls do as expected is for programs that use the library
        with suppress(OSError, UsageError):
            line = mask_tokens(self._mask.mask_text(self.format(record)))
            self._write(f"{line}\n".encode(errors="backslashreplace"))

    def _write(self, content: bytes) -> None:
        path = self.baseFilename
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
    for known in logger.handlers:
        if isinstance(known, LogFileHandler) and known.baseFilename == path:
            known.add_secrets(secrets)
            yield
            return
    if chosen is not None:
        _check_writable(chosen)
    handler = LogFileHandler(path, secrets, is_own=chosen is None)
    loggers = (logger, logging.getLogger("asyncio"))
    for each in loggers:
        each.addHandler(handler)
    try:
        yield
    finally:
        for each in loggers:
            each.removeHandler(handler)


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
