"""Lines that others wrote, made safe and told apart from ours."""

import re
from enum import StrEnum

from tejat.core.frozen import frozen
from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_text


class DisplayLineKind(StrEnum):
    """What a line is. Every kind but LABEL is somebody else's, and is shown with a mark or a sign before it."""

    COMMAND = "command"
    COMMAND_CONTINUATION = "command_goes_on"
    QUOTED = "said"
    ADDED = "added"
    REMOVED = "removed"
    CONTEXT = "context"
    HUNK = "hunk"
    LABEL = "label"


@frozen
class DisplayLine:
    """One safe line without its end. Lines of a diff begin with their sign."""

    kind: DisplayLineKind
    text: str

    @property
    def prefix(self) -> str:
        """What stands before it; lines of a diff have their signs already."""
        return _PREFIXES.get(self.kind, "")


CONTINUATION_PREFIX = "| "
"""What the rest of a line begins with that was too long for one row."""

_PREFIXES = {DisplayLineKind.COMMAND: "$ ", DisplayLineKind.COMMAND_CONTINUATION: "> ", DisplayLineKind.QUOTED: "> "}


# Blanks that no shell parts words at, and a sign without dots: harmless in text, but not in what is to run.
_ODD_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"


def escape_line(text: str) -> str:
    """A text that is to stand in one line, with everything shown that would end the line or pass for a blank."""
    return _escape_blanks(sanitize_text(translate(text))).replace("\n", "<U+000A>")


def quote_lines(text: str) -> list[DisplayLine]:
    """Somebody else's text, line by line."""
    return [DisplayLine(DisplayLineKind.QUOTED, line) for line in sanitize_text(translate(text)).split("\n")]


def command_lines(command: str) -> list[DisplayLine]:
    """Of the blanks only those stay blank that are blanks for a shell too."""
    first, *others = _escape_blanks(sanitize_text(command)).split("\n")
    return [
        DisplayLine(DisplayLineKind.COMMAND, first),
        *(DisplayLine(DisplayLineKind.COMMAND_CONTINUATION, line) for line in others),
    ]


def _escape_blanks(text: str) -> str:
    return text if text.isascii() else re.sub(_ODD_BLANKS, lambda found: f"<U+{ord(found.group()):04X}>", text)
