"""Costs of matching lines of the search block with lines of the file, and of skipping lines."""

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import CUT, INDENTATION, SPACING, LineComparer
from tejat.tools.edit.match.normalize import find_defined_names
from tejat.tools.edit.match.search_block import SearchBlock, indent_of

STALE = 70
"""Cost of a line that is different in the file: it was changed since, or this is the wrong place."""
MISSING = 80
EXTRA = 40
"""Costs of a line that the file lacks, and of one that only the file has; BLANK for blank lines."""
BLANK = 3

ELISION = 9
"""Cost of an elision: more than that of the same dots in the file."""

_NEVER = float("inf")
_NEARBY_LINES = 8
_SPACING_COSTS = (SPACING, SPACING + INDENTATION)
_CONTEXT_DEPENDENT_COSTS = (*_SPACING_COSTS, STALE)
_ELIDED_LINE = 0.05
"""Cost of each elided line, so that elisions are as short as possible."""


class CostMatrix:
    """Costs of matching each line of a block with each line of a file, and of skipping either."""

    def __init__(self, given: SearchBlock, page: IndexedFile) -> None:
        self._block, self._target = given, page
        self._comparers: dict[int, LineComparer] = {}

    def comparer(self, index: int) -> LineComparer:
        """Get the comparer of a line of the block."""
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
        """Cost of matching a line of the block with a line of the file."""
        likeness, found = self.comparer(index), self._target.lines[at]
        cost = likeness.cache.get(found)
        if cost is None:
            cost = self._cost(likeness, index, at)
            # For white space inside of the line, the neighboring lines matter.
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
            return STALE  # White space distinguishes lines here.
        return STALE if cost is None or (cost > CUT and self._defines_other_name(line, at)) else cost

    def _occurs_nearby(self, text: str, at: int) -> bool:
        """Check whether a nearby plain line has exactly this text."""
        lines = self._target.lines
        near = range(max(at - _NEARBY_LINES, 0), min(at + _NEARBY_LINES + 1, len(lines)))
        return lines[at].isascii() and any(lines[line].strip() == text for line in near)

    def _defines_other_name(self, line: str, at: int) -> bool:
        """Check whether the line defines a name that the file has elsewhere, unlike this line."""
        names = find_defined_names(line)
        return names != find_defined_names(self._target.lines[at]) and any(map(self._target.has_word, names))

    def missing_cost(self, index: int) -> float:
        """Cost of a line of the block that is not in the file."""
        return ELISION if self._block.elisions[index] else MISSING if self._block.keys[index] else BLANK

    def extra_cost(self, at: int) -> float:
        """Cost of a line that only the file has."""
        return EXTRA if self._target.keys[at] else BLANK

    def elided_costs(self, index: int, start: int, end: int) -> list[float]:
        """Cost of each line of the file that an elision stands for."""
        given, keys, lines = self._block, self._target.keys, self._target.lines
        # Elided lines belong to the block that contains the elision.
        if len(indent_of(given.lines[index])) > len(indent_of(given.lines[given.first_nonblank])):
            return [_ELIDED_LINE if not keys[at] or indent_of(lines[at]) else float(EXTRA) for at in range(start, end)]
        return [_ELIDED_LINE] * (end - start)
