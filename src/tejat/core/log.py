"""The log of unexpected exceptions: the standard library logger `tejat`.

The program attaches a log file to it (see `tejat.app.diagnostics.log_file`). Users of the library may attach their own
handlers.
"""

import logging

from tejat.core.i18n import _

logger = logging.getLogger("tejat")


def report_unexpected(error: BaseException, where: str) -> str:
    """Log an unexpected exception with its traceback, once, and return the sentence for the user.

    The sentence holds the type of the exception only: its text may be anything, also a secret.
    """
    if logger.hasHandlers() and "_is_logged" not in vars(error):
        logger.error("Unexpected exception in %s", where, exc_info=error)
        vars(error)["_is_logged"] = True
    kind, path = type(error).__name__, log_path()
    if path is None:
        return _("Internal error: {error}.", error=kind)
    return _("Internal error: {error}. Details are in {path}", error=kind, path=path)


def log_path() -> str | None:
    """The log file, None if there is none."""
    paths = (getattr(handler, "baseFilename", None) for handler in logger.handlers)
    return next((path for path in paths if isinstance(path, str)), None)


def enable_debug() -> None:
    """Log at level DEBUG from now on."""
    logger.setLevel(logging.DEBUG)


def is_debugging() -> bool:
    return logger.level == logging.DEBUG
