"""What it costs to take a line that was given for a line of the file, or to skip one of them."""

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import CUT, INDENTATION, SPACING, LineComparer
from tejat.tools.edit.match.normalize import find_defined_names
from tejat.tools.edit.match.search_block import SearchBlock, indent_of

STALE = 70
"""The cost of a line that is another one in the file: it was changed since, or this is the wrong place."""
MISSING = 80
EXTRA = 40
"""The costs of a line that the file lacks, and of one that only the file has; of blank lines, BLANK."""
BLANK = 3

ELISION = 9
"""The cost of dots for any number of lines: more than that of the same dots in the file."""

_NEVER = float("inf")
_NEARBY_LINES = 8
_SPACING_COSTS = (SPACING, SPACING + INDENTATION)
_CONTEXT_DEPENDENT_COSTS = (*_SPACING_COSTS, STALE)
_ELIDED_LINE = 0.05
"""The cost of each line that dots stand for, so that they stand for as few as possible."""


class CostMatrix:
    """What it costs that a given line is a certain line of the file, and to skip either."""

    def __init__(self, given: SearchBlock, page: IndexedFile) -> None:
        self._block, self._target = given, page
        self._comparers: dict[int, LineComparer] = {}

    def comparer(self, index: int) -> LineComparer:
        """What compares a given line with others; it knows what was asked before."""
        likeness = self._comparers.get(index)
        if likeness is None:
            given = self._block
            is_first, is_last = index == given.first_nonblank, index == given.last_nonblank
            likeness = self._target.line_comparer(
                given.lines[index], given.keys[index], is_first=is_first, is_last=is_last
            )
            self._comparers[index] = likeness
        return likeness

    def cost(self, index: int, at: int) -> float:
        """Of a given line and one of the file."""
        likeness, found = self.comparer(index), self._target.lines[at]
        cost = likeness.cache.get(found)
        if cost is None:
            cost = self._cost(likeness, index, at)
            # Where only white space differs within the line, it matters what stands around it.
            if cost not in _CONTEXT_DEPENDENT_COSTS or self._block.keys[index] != self._target.keys[at]:
                likeness.cache[found] = cost
        return cost

    def _cost(self, likeness: LineComparer, index: int, at: int) -> float:
        line, key, found_key = self._block.lines[index], self._block.keys[index], self._target.keys[at]
        if key != found_key and (not key or not found_key):
            return _NEVER
        if self._block.elisions[index] and key != found_key:
            return _NEVER if likeness.elided_cost(found_key) is None else ELISION - 1
        cost = likeness.cost(self._target.lines[at], found_key)
        if key == found_key and cost in _SPACING_COSTS and line.isascii() and self._occurs_nearby(line.strip(), at):
            return STALE  # the white space within it tells lines apart here
        return STALE if cost is None or (cost > CUT and self._defines_other_name(line, at)) else cost

    def _occurs_nearby(self, text: str, at: int) -> bool:
        """Whether this is just what a line says that stands near another one, which is plain too."""
        lines = self._target.lines
        near = range(max(at - _NEARBY_LINES, 0), min(at + _NEARBY_LINES + 1, len(lines)))
        return lines[at].isascii() and any(lines[line].strip() == text for line in near)

    def _defines_other_name(self, line: str, at: int) -> bool:
        """Whether the line defines something that the file has elsewhere, and this line something else."""
        names = find_defined_names(line)
        return names != find_defined_names(self._target.lines[at]) and any(map(self._target.has_word, names))

    def missing_cost(self, index: int) -> float:
        """Of a given line that is not in the file."""
        return ELISION if self._block.elisions[index] else MISSING if self._block.keys[index] else BLANK

    def extra_cost(self, at: int) -> float:
        """Of a line that only the file has."""
        return EXTRA if self._target.keys[at] else BLANK

    def elided_costs(self, index: int, start: int, end: int) -> list[float]:
        """Of each line of the file that dots stand for."""
        given, keys, lines = self._block, self._target.keys, self._target.lines
        # What was left out belongs to the block that the dots stand in.
        if len(indent_of(given.lines[index])) > len(indent_of(given.lines[given.first_nonblank])):
            return [_ELIDED_LINE if not keys[at] or indent_of(lines[at]) else float(EXTRA) for at in range(start, end)]
        return [_ELIDED_LINE] * (end - start)
