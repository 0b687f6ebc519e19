"""The log: loggers of the standard library below `tejat`.

They are silent until a handler is attached. The program attaches a log file (see `tejat.app.diagnostics.log_file`);
users of the library attach handlers of their own. Secrets are masked before a handler gets a record.

`logging` takes longer to load than a tool call takes, and most runs log nothing that is kept. So it is loaded with the
first record that somebody could read.
"""

from __future__ import annotations

import logging
from _thread import RLock
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import cast

from tejat.core.i18n import _
from tejat.core.text.secret_mask import mask_tokens

DEBUG = 10
"""`logging.DEBUG`."""
_UNREAD = frozenset({"debug", "info", "warning", "isEnabledFor"})
"""What needs no logger while nobody can have attached a handler or set a level. Errors do: a log file may wait."""

_masks: list[Callable[[str], str]] = []
_slots: list[_HandlerSlot] = []
_filling = RLock()


class LazyLogger:
    """A logger of `logging`, which is made when it is needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._made: logging.Logger | None = None

    def __getattr__(self, attribute: str) -> object:
        if attribute in _UNREAD and not _is_logging_loaded():
            return _ignore
        if self._made is None:
            self._made = _make_logger(self.name)
        for slot in tuple(_slots):
            slot.fill()
        return getattr(self._made, attribute)


def _lazy_logger(name: str) -> logging.Logger:
    return cast("logging.Logger", LazyLogger(name))


logger = _lazy_logger("tejat")
agent_logger = _lazy_logger("tejat.agent")
"""Sessions, runs and sub-agents."""
tools_logger = _lazy_logger("tejat.tools")
"""Tool calls."""
model_logger = _lazy_logger("tejat.model")
"""Requests to models."""
mcp_logger = _lazy_logger("tejat.mcp")
"""Connections to MCP servers."""


def _is_logging_loaded() -> bool:
    # A module that is loaded at its first use is of another type until then.
    return type(logging) is ModuleType


def _ignore(*_: object) -> bool:
    return False


def _make_logger(name: str) -> logging.Logger:
    root = logging.getLogger("tejat")
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    made = logging.getLogger(name)
    made.addFilter(mask_record)
    return made


def mask_record(record: logging.LogRecord) -> bool:
    """Mask secrets in a record and in the text of its traceback."""
    record.msg, record.args = mask_log_text(record.getMessage()), None
    if record.exc_info and not record.exc_text:
        # A formatter prints this text instead of its own. The exception stays for error trackers.
        record.exc_text = mask_log_text(logging.Formatter().formatException(record.exc_info))
    return True


class _HandlerSlot:
    """A handler of the loggers of Tejat and asyncio, made once `logging` is loaded."""

    def __init__(self, make: Callable[[], logging.Handler]) -> None:
        self._make = make
        self._handler: logging.Handler | None = None

    def fill(self) -> None:
        if self._handler is not None:
            return
        with _filling:
            if self._handler is None:
                self._handler = self._make()
                for each in _handled_loggers():
                    each.addHandler(self._handler)

    def clear(self) -> None:
        with _filling:
            if self._handler is not None:
                for each in _handled_loggers():
                    each.removeHandler(self._handler)


def _handled_loggers() -> tuple[logging.Logger, ...]:
    return logging.getLogger("tejat"), logging.getLogger("asyncio")


@contextmanager
def attached_handler(make: Callable[[], logging.Handler]) -> Generator[None]:
    """Give a handler the records of Tejat and asyncio meanwhile. It is made once `logging` is loaded."""
    slot = _HandlerSlot(make)
    _slots.append(slot)
    if _is_logging_loaded():
        slot.fill()
    try:
        yield
    finally:
        _slots.remove(slot)
        slot.clear()


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
    logger.setLevel(DEBUG)


def is_debugging() -> bool:
    return _is_logging_loaded() and logger.level == DEBUG
