"""Colour for people, and none of it where nobody would see it."""

import os
from typing import TextIO

from tejat.core.visible import visible

_BOLD, _RED, _GREEN, _CYAN, _DIM, _RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[2m", "\x1b[0m"

_LINE_COLOURS = (
    ("+++", _BOLD),
    ("---", _BOLD),
    ("+", _GREEN),
    ("-", _RED),
    ("@@", _CYAN),
    ("Index:", _DIM),
    ("===", _DIM),
    ("\\", _DIM),
)


class Style:
    """Colours for one stream: on for a terminal, off with NO_COLOR or TERM=dumb."""

    def __init__(self, stream: TextIO) -> None:
        self._coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def bold(self, text: str) -> str:
        return self._paint(text, _BOLD)

    def dim(self, text: str) -> str:
        return self._paint(text, _DIM)

    def diff(self, patch: str) -> str:
        """A patch with hidden characters shown and its lines coloured."""
        return "\n".join(self._diff_line(visible(line)) for line in patch.rstrip("\n").split("\n"))

    def _diff_line(self, line: str) -> str:
        for start, colour in _LINE_COLOURS:
            if line.startswith(start):
                return self._paint(line, colour)
        return line

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_RESET}" if self._coloured and text else text
