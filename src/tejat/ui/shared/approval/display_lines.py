"""Sanitized lines that mark quoted third-party text."""

import re
from itertools import chain, repeat

from tejat.core.frozen import Frozen
from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_line, sanitize_text
from tejat.core.text.str_enum import StrEnum


class DisplayLineKind(StrEnum):
    """Kind of a line. All kinds but LABEL are third-party text and are shown with a prefix."""

    COMMAND = "command"
    COMMAND_CONTINUATION = "command_goes_on"
    QUOTED = "said"
    LABEL = "label"


class DisplayLine(Frozen):
    """One sanitized line without its newline."""

    kind: DisplayLineKind
    text: str

    @property
    def prefix(self) -> str:
        """The prefix to show."""
        return _PREFIXES.get(self.kind, "")


CONTINUATION_PREFIX = "| "
"""Prefix of the continuation rows of a long line."""

_PREFIXES = {DisplayLineKind.COMMAND: "$ ", DisplayLineKind.COMMAND_CONTINUATION: "> ", DisplayLineKind.QUOTED: "> "}


# Blanks that no shell splits at, and the blank braille pattern: harmless in text, but not in a command.
_ODD_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"


def escape_line(text: str) -> str:
    """Sanitize a text for one line, with newlines and unusual blanks escaped."""
    return _escape_blanks(sanitize_line(translate(text), keep_tabs=True))


def quote_lines(text: str) -> list[DisplayLine]:
    """Return third-party text as quoted lines."""
    return [DisplayLine(DisplayLineKind.QUOTED, line) for line in sanitize_text(translate(text)).split("\n")]


def command_lines(command: str) -> list[DisplayLine]:
    """Return a command as lines, with every blank escaped that is none for a shell."""
    lines = _escape_blanks(sanitize_text(command)).split("\n")
    kinds = chain([DisplayLineKind.COMMAND], repeat(DisplayLineKind.COMMAND_CONTINUATION))
    return list(map(DisplayLine, kinds, lines))


def _escape_blanks(text: str) -> str:
    return text if text.isascii() else re.sub(_ODD_BLANKS, lambda found: f"<U+{ord(found.group()):04X}>", text)
