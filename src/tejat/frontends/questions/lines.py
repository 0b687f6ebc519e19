"""Lines that others wrote, made safe and told apart from ours."""

import re
from enum import StrEnum

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import translated


class LineKind(StrEnum):
    """What a line is. Every kind but LABEL is somebody else's, and is shown with a mark or a sign before it."""

    COMMAND = "command"
    COMMAND_GOES_ON = "command_goes_on"
    SAID = "said"
    ADDED = "added"
    REMOVED = "removed"
    CONTEXT = "context"
    HUNK = "hunk"
    LABEL = "label"


@value
class Line:
    """One safe line without its end. Lines of a diff begin with their sign."""

    kind: LineKind
    text: str

    @property
    def mark(self) -> str:
        """What stands before it; lines of a diff have their signs already."""
        return _MARKS.get(self.kind, "")


SAME_LINE = "| "
"""What the rest of a line begins with that was too long for one row."""

_MARKS = {LineKind.COMMAND: "$ ", LineKind.COMMAND_GOES_ON: "> ", LineKind.SAID: "> "}


# Blanks that no shell parts words at, and a sign without dots: harmless in text, but not in what is to run.
_ODD_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"


def one_line(text: str) -> str:
    """A text that is to stand in one line, with everything shown that would end the line or pass for a blank."""
    return _with_blanks(visible(translated(text))).replace("\n", "<U+000A>")


def said(text: str) -> list[Line]:
    """Somebody else's text, line by line."""
    return [Line(LineKind.SAID, line) for line in visible(translated(text)).split("\n")]


def command_lines(command: str) -> list[Line]:
    """Of the blanks only those stay blank that are blanks for a shell too."""
    first, *others = _with_blanks(visible(command)).split("\n")
    return [Line(LineKind.COMMAND, first), *(Line(LineKind.COMMAND_GOES_ON, line) for line in others)]


def _with_blanks(text: str) -> str:
    return text if text.isascii() else re.sub(_ODD_BLANKS, lambda found: f"<U+{ord(found.group()):04X}>", text)
