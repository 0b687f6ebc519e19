"""Outcomes of cases."""

from dataclasses import dataclass
from enum import Enum

from bench.edit.case import Case


class Verdict(Enum):
    """RIGHT is the intended file, or a refusal where one is required."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a case: the `actual` file and the `message` of the tool."""

    case: Case
    actual: bytes
    message: str
    refused: bool

    @property
    def differs_only_in_whitespace(self) -> bool:
        """Whether only white space differs from the intended file: still wrong, but less bad."""
        meant = self.case.after
        return self.verdict is Verdict.WRONG and meant is not None and self.actual.split() == meant.split()

    @property
    def verdict(self) -> Verdict:
        unchanged = self.actual == self.case.start
        if self.case.after is None:
            return Verdict.RIGHT if unchanged and self.refused else Verdict.WRONG
        if self.actual == self.case.after:
            return Verdict.RIGHT
        return Verdict.REFUSED if unchanged else Verdict.WRONG
