"""Colours, signs and size of the terminal that a batch is shown on."""

import os
from collections.abc import Mapping
from typing import TextIO

from tejat.batch.result import TaskStatus
from tejat.core.frozen import Frozen
from tejat.core.ui.report import Tone
from tejat.ui.plain.style import Style
from tejat.ui.terminal.render.cells import to_ascii

_CODES = {Tone.STRONG: "1", Tone.QUIET: "2", Tone.GOOD: "32", Tone.WARNING: "33", Tone.BAD: "31"}
_DEFAULT_ROWS = 24


class StatusSigns(Frozen):
    """Signs for states, and other characters that not every encoding has."""

    status: Mapping[TaskStatus, str]
    running: str
    retry: str
    notice: str
    separator: str
    cut: str
    bar: str

    @property
    def is_ascii(self) -> bool:
        return self.cut.isascii()


UNICODE_SIGNS = StatusSigns(
    {TaskStatus.PASSED: "✓", TaskStatus.FAILED: "✗", TaskStatus.ERROR: "!", TaskStatus.SKIPPED: "-"},
    running="●",
    retry="↻",
    notice="▲",
    separator=" · ",
    cut="…",
    bar="━",
)
ASCII_SIGNS = StatusSigns(
    {TaskStatus.PASSED: "+", TaskStatus.FAILED: "x", TaskStatus.ERROR: "!", TaskStatus.SKIPPED: "-"},
    running="*",
    retry="~",
    notice="!",
    separator=", ",
    cut="~",
    bar="=",
)


class TerminalStyle:
    """How to write to a stream: colours as for all plain output, signs by its encoding."""

    def __init__(self, stream: TextIO | None, *, is_coloured: bool | None = None) -> None:
        self._style = Style(stream)
        self._stream = stream
        self.is_coloured = self._style.is_coloured if is_coloured is None else is_coloured
        self.signs = UNICODE_SIGNS if _has_signs(self._style.encoding) else ASCII_SIGNS

    @property
    def columns(self) -> int:
        return self._style.columns

    @property
    def rows(self) -> int:
        try:
            rows = os.get_terminal_size(self._stream.fileno()).lines if self._stream else 0
        except (OSError, ValueError):
            rows = 0
        return rows or _DEFAULT_ROWS

    def paint(self, text: str, tone: Tone) -> str:
        """The text in the colour of a tone."""
        code = _CODES.get(tone)
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_coloured and code and text else text

    def encodable(self, text: str) -> str:
        """A safe text in the characters that the stream has. Its width stays."""
        return to_ascii(text) if self.signs.is_ascii else text


def _has_signs(encoding: str) -> bool:
    try:
        "✓✗●↻▲·…━".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
