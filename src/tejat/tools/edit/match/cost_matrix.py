"""Costs of matching lines of the search block with lines of the file, and of skipping lines."""

from tejat.tools.edit import weights
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_comparer import LineComparer
from tejat.tools.edit.match.line_match import IMPOSSIBLE, OTHER, Match, MatchKind
from tejat.tools.edit.match.normalize import find_defined_names
from tejat.tools.edit.match.search_block import SearchBlock, indent_of

_NEARBY_LINES = 8
_BLANKS = (" ", "\t")
_ELISION = Match(MatchKind.ELISION, weights.ELISION_PREFIX_COST)


class CostMatrix:
    """Costs of matching each line of a block with each line of a file, and of skipping either."""

    def __init__(self, block: SearchBlock, target: IndexedFile) -> None:
        self._block, self._target = block, target
        self._comparers: dict[int, LineComparer] = {}

    def comparer(self, index: int) -> LineComparer:
        """Get the comparer of a line of the block."""
        if index not in self._comparers:
            block = self._block
            is_first, is_last = index == block.first_nonblank, index == block.last_nonblank
            line, key = block.lines[index], block.keys[index]
            self._comparers[index] = self._target.line_comparer(line, key, is_first=is_first, is_last=is_last)
        return self._comparers[index]

    def match(self, index: int, at: int) -> Match:
        """Compare a line of the block with a line of the file."""
        comparer, found = self._comparers.get(index) or self.comparer(index), self._target.lines[at]
        match = comparer.cache.get(found)
        if match is None:
            match = self._compare(comparer, index, at)
            # For white space inside of the line, the neighboring lines matter.
            depends_on_context = match.kind in (MatchKind.SPACING, MatchKind.OTHER)
            if not depends_on_context or self._block.keys[index] != self._target.keys[at]:
                comparer.cache[found] = match
        return match

    def _compare(self, comparer: LineComparer, index: int, at: int) -> Match:
        line, key, found_key = self._block.lines[index], self._block.keys[index], self._target.keys[at]
        if key != found_key and (not key or not found_key):
            return IMPOSSIBLE
        if self._block.elisions[index] and key != found_key:
            return _ELISION if comparer.is_elided(found_key) else IMPOSSIBLE
        match = comparer.compare(self._target.lines[at], found_key)
        if match is None or (match.kind > MatchKind.CUT and self._defines_other_name(line, at)):
            return OTHER
        if match.kind is MatchKind.SPACING and line.isascii() and self._occurs_nearby(line.strip(), at):
            return OTHER  # White space distinguishes lines here.
        return match

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
        if self._block.elisions[index]:
            return weights.ELISION_COST
        return weights.MISSING_COST if self._block.keys[index] else weights.BLANK_COST

    def extra_costs(self, start: int, end: int) -> list[float]:
        """Cost of each line that only the file has."""
        return [float(weights.EXTRA_COST if key else weights.BLANK_COST) for key in self._target.keys[start:end]]

    def elided_costs(self, index: int, start: int, end: int) -> list[float]:
        """Cost of each line of the file that an elision stands for."""
        block, keys, lines = self._block, self._target.keys, self._target.lines
        # Elided lines belong to the block that contains the elision.
        if len(indent_of(block.lines[index])) > len(indent_of(block.lines[block.first_nonblank])):
            return [
                weights.ELIDED_LINE_COST if not keys[at] or lines[at].startswith(_BLANKS) else float(weights.EXTRA_COST)
                for at in range(start, end)
            ]
        return [weights.ELIDED_LINE_COST] * (end - start)
