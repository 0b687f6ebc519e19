"""Colours of plain output."""

import os
from typing import TextIO

_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_DEFAULT_COLUMNS = 80


class Style:
    """Colours for a stream: on for a terminal that has them, else by NO_COLOR and FORCE_COLOR, in this order.

    Without a stream there are none, because the lines are read out or sent on.
    """

    def __init__(self, stream: TextIO | None) -> None:
        forced = os.environ.get("FORCE_COLOR", "")
        self._stream = stream
        self.is_terminal = stream is None or stream.isatty()
        if stream is None or os.environ.get("NO_COLOR") or forced in ("0", "false"):
            self.is_coloured = False
        else:
            self.is_coloured = bool(forced) or (self.is_terminal and os.environ.get("TERM") != "dumb")

    @property
    def encoding(self) -> str:
        return (self._stream and self._stream.encoding) or "utf-8"

    @property
    def columns(self) -> int:
        """The width of the terminal, or a usual one."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns if self._stream else 0
        except (OSError, ValueError):
            columns = 0
        return columns or _DEFAULT_COLUMNS

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_RESET}" if self.is_coloured and text else text
