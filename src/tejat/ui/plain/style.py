"""Colours of plain output."""

import os
from typing import TextIO

from tejat.core.sanitize import sanitize_text

_BOLD, _RED, _GREEN, _CYAN, _DIM, _RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[2m", "\x1b[0m"

_HEADER_LINES = 4
_LINE_COLOURS = {"+": _GREEN, "-": _RED, "@": _CYAN, "\\": _DIM}


class Style:
    """Colours for a stream: on for a terminal that has them, else by NO_COLOR and FORCE_COLOR, in this order.

    Without a stream there are none, because the lines are read out or sent on.
    """

    def __init__(self, stream: TextIO | None) -> None:
        forced = os.environ.get("FORCE_COLOR", "")
        if stream is None or os.environ.get("NO_COLOR") or forced in ("0", "false"):
            self._coloured = False
        else:
            self._coloured = bool(forced) or (stream.isatty() and os.environ.get("TERM") != "dumb")

    def bold(self, text: str) -> str:
        return self._paint(text, _BOLD)

    def diff(self, patch: str) -> str:
        """Return a sanitized diff with coloured lines."""
        lines = sanitize_text(patch.removesuffix("\n")).split("\n")
        first_hunk = _HEADER_LINES if lines[0].startswith("Index: ") else 0
        names = ("+++ ", "--- ")
        header = [self._paint(line, _BOLD if line.startswith(names) else _DIM) for line in lines[:first_hunk]]
        hunks = [self._paint(line, _LINE_COLOURS.get(line[:1], "")) for line in lines[first_hunk:]]
        return "\n".join([*header, *hunks])

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_RESET}" if self._coloured and colour and text else text
