"""Kinds of line matches and their costs."""

from enum import IntEnum
from typing import NamedTuple

from tejat.tools.edit.weights import MISSING_COST, OTHER_COST


class MatchKind(IntEnum):
    """Difference between a line of the block and a line of the file, least serious first."""

    SAME = 0
    """No difference; also for blank lines and elisions without a counterpart."""
    MARGIN = 1
    """White space at the start or end."""
    SPACING = 2
    """White space or look-alike characters within the line."""
    ESCAPED = 3
    ELISION = 4
    """Elision that begins like the line of the file."""
    CUT = 5
    """The start of the first line or the end of the last line is missing."""
    ELIDED_END = 6
    """The end of the line is replaced by dots."""
    TYPO = 7
    CUT_TYPO = 8
    """Cut, with a typo."""
    WORD = 9
    """One word differs, or more letters than in a typo."""
    REWORDED = 10
    """Only the words of a comment differ."""
    OTHER = 11
    """A different line."""
    MISSING = 12
    """The file has no such line."""


class Match(NamedTuple):
    """Kind of a difference and its cost."""

    kind: MatchKind
    cost: float

    @property
    def is_known(self) -> bool:
        """Whether the file has the line, up to a typo or a word."""
        return self.kind < MatchKind.OTHER

    @property
    def is_exact(self) -> bool:
        """Whether only white space and look-alike characters differ."""
        return self.kind < MatchKind.ESCAPED


SAME = Match(MatchKind.SAME, 0.0)
OTHER = Match(MatchKind.OTHER, float(OTHER_COST))
MISSING = Match(MatchKind.MISSING, float(MISSING_COST))
IMPOSSIBLE = Match(MatchKind.OTHER, float("inf"))
"""A blank line never matches one that is not blank."""
