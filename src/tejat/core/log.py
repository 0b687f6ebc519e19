"""The log: loggers of the standard library below `tejat`.

They are silent until a handler is attached. The program attaches a log file (see `tejat.app.diagnostics.log_file`);
users of the library attach handlers of their own. Secrets are masked before a handler gets a record.
"""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tejat.core.i18n import _
from tejat.core.text.secret_mask import mask_tokens


class SecretFilter(logging.Filter):
    """Masks secrets in records and in the text of their tracebacks."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask_log_text(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            # A formatter prints this text instead of its own. The exception stays for error trackers.
            record.exc_text = mask_log_text(_formatter.formatException(record.exc_info))
        return True


_formatter = logging.Formatter()
_masks: list[Callable[[str], str]] = []


def _make_logger(name: str) -> logging.Logger:
    made = logging.getLogger(name)
    made.addFilter(SecretFilter())
    return made


def _make_root_logger() -> logging.Logger:
    made = _make_logger("tejat")
    made.addHandler(logging.NullHandler())
    return made


logger = _make_root_logger()
agent_logger = _make_logger("tejat.agent")
"""Sessions, runs and sub-agents."""
tools_logger = _make_logger("tejat.tools")
"""Tool calls."""
model_logger = _make_logger("tejat.model")
"""Requests to models."""
mcp_logger = _make_logger("tejat.mcp")
"""Connections to MCP servers."""


def report_unexpected(error: BaseException, where: str, *, log: logging.Logger = logger) -> str:
    """Log an unexpected exception with its traceback, once, and return the sentence for the user.

    The sentence holds the type of the exception only: its text may be anything, also a secret.
    """
    if _has_reader(log) and "_is_logged" not in vars(error):
        log.error("Unexpected exception in %s", where, exc_info=error)
        vars(error)["_is_logged"] = True
    kind, path = type(error).__name__, log_path()
    if path is None:
        return _("Internal error: {error}.", error=kind)
    return _("Internal error: {error}. Details are in {path}", error=kind, path=path)


def _has_reader(log: logging.Logger | None) -> bool:
    """Whether somebody gets the records of a logger."""
    while log is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in log.handlers):
            return True
        log = log.parent if log.propagate else None
    return False


@contextmanager
def masked_secrets(mask: Callable[[str], str]) -> Generator[None]:
    """Apply a mask to all records meanwhile, besides that for keys and tokens of well-known shapes."""
    _masks.append(mask)
    try:
        yield
    finally:
        _masks.remove(mask)


def mask_log_text(text: str) -> str:
    """Mask the secrets in a text for the log."""
    for mask in tuple(_masks):
        text = mask(text)
    return mask_tokens(text)


def log_path() -> str | None:
    """The log file, None if there is none."""
    paths = (getattr(handler, "baseFilename", None) for handler in logger.handlers)
    return next((path for path in paths if isinstance(path, str)), None)


def enable_debug() -> None:
    """Log at level DEBUG from now on."""
    logger.setLevel(logging.DEBUG)


def is_debugging() -> bool:
    return logger.level == logging.DEBUG
