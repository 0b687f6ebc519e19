"""What it costs to take a line that was given for a line of the file, or to skip one of them."""

from tejat.tools.edit.folding import names_of
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import CUT, INDENTATION, SPACING, Likeness
from tejat.tools.edit.page import Page

STALE = 70
"""The cost of a line that is another one in the file: it was changed since, or this is the wrong place."""
MISSING = 80
EXTRA = 40
"""The costs of a line that the file lacks, and of one that only the file has; of blank lines, BLANK."""
BLANK = 3

ELISION = 9
"""The cost of dots for any number of lines: more than that of the same dots in the file."""

_NEVER = float("inf")
_NEAR = 8
_SPACED = (SPACING, SPACING + INDENTATION)
_BY_SURROUNDINGS = (*_SPACED, STALE)
_ELIDED = 0.05
"""The cost of each line that dots stand for, so that they stand for as few as possible."""


class Pairs:
    """What it costs that a given line is a certain line of the file, and to skip either."""

    def __init__(self, given: Given, page: Page) -> None:
        self._given, self._page = given, page
        self._likenesses: dict[int, Likeness] = {}

    def likeness(self, index: int) -> Likeness:
        """What compares a given line with others; it knows what was asked before."""
        likeness = self._likenesses.get(index)
        if likeness is None:
            given = self._given
            is_first, is_last = index == given.first, index == given.last
            likeness = self._page.likeness(given.lines[index], given.keys[index], is_first=is_first, is_last=is_last)
            self._likenesses[index] = likeness
        return likeness

    def cost(self, index: int, at: int) -> float:
        """Of a given line and one of the file."""
        likeness, found = self.likeness(index), self._page.lines[at]
        cost = likeness.known.get(found)
        if cost is None:
            cost = self._cost(likeness, index, at)
            # Where only white space differs within the line, it matters what stands around it.
            if cost not in _BY_SURROUNDINGS or self._given.keys[index] != self._page.keys[at]:
                likeness.known[found] = cost
        return cost

    def _cost(self, likeness: Likeness, index: int, at: int) -> float:
        line, key, found_key = self._given.lines[index], self._given.keys[index], self._page.keys[at]
        if key != found_key and (not key or not found_key):
            return _NEVER
        if self._given.elisions[index] and key != found_key:
            return _NEVER if likeness.cost_of_dots(found_key) is None else ELISION - 1
        cost = likeness.cost(self._page.lines[at], found_key)
        if key == found_key and cost in _SPACED and line.isascii() and self._stands_near(line.strip(), at):
            return STALE  # the white space within it tells lines apart here
        return STALE if cost is None or (cost > CUT and self._is_another_thing(line, at)) else cost

    def _stands_near(self, text: str, at: int) -> bool:
        """Whether this is just what a line says that stands near another one, which is plain too."""
        lines = self._page.lines
        near = range(max(at - _NEAR, 0), min(at + _NEAR + 1, len(lines)))
        return lines[at].isascii() and any(lines[line].strip() == text for line in near)

    def _is_another_thing(self, line: str, at: int) -> bool:
        """Whether the line defines something that the file has elsewhere, and this line something else."""
        names = names_of(line)
        return names != names_of(self._page.lines[at]) and any(map(self._page.has_word, names))

    def cost_of_missing(self, index: int) -> float:
        """Of a given line that is not in the file."""
        return ELISION if self._given.elisions[index] else MISSING if self._given.keys[index] else BLANK

    def cost_of_extra(self, at: int) -> float:
        """Of a line that only the file has."""
        return EXTRA if self._page.keys[at] else BLANK

    def costs_of_elided(self, index: int, start: int, end: int) -> list[float]:
        """Of each line of the file that dots stand for."""
        given, keys, lines = self._given, self._page.keys, self._page.lines
        # What was left out belongs to the block that the dots stand in.
        if len(indent_of(given.lines[index])) > len(indent_of(given.lines[given.first])):
            return [_ELIDED if not keys[at] or indent_of(lines[at]) else float(EXTRA) for at in range(start, end)]
        return [_ELIDED] * (end - start)
