"""Alignment of the search block with the lines of the file at minimal total cost (dynamic programming)."""

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, takewhile

from tejat.core.frozen import Frozen
from tejat.tools.edit import weights
from tejat.tools.edit.match.cost_matrix import CostMatrix
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_comparer import has_escapes, is_plain
from tejat.tools.edit.match.line_match import IMPOSSIBLE, MISSING, SAME, Match
from tejat.tools.edit.match.normalize import strip_escapes
from tejat.tools.edit.match.search_block import SearchBlock

_NEVER = float("inf")
_LOOKAHEAD = 4
_ROUNDING = 1e-6
MAX_ELIDED_LINES = 200
"""Lines that one `...` may stand for."""
_MATCH, _SKIP_BLOCK_LINE, _SKIP_FILE_LINE = 1, 2, 3
_MAX_ALIGNMENTS = 4
_MAX_TRACED = 8
_MAX_RUNS = 100


class Alignment(Frozen):
    """Position of each line of a block in the file, and how it matches there.

    `positions` has None for missing lines and for elisions; `elided` maps elisions to half-open ranges of file
    lines.
    """

    positions: tuple[int | None, ...]
    matches: tuple[Match, ...]
    total_cost: float
    elided: dict[int, tuple[int, int]]

    @property
    def start(self) -> int:
        return min(place for place in self.positions if place is not None)

    @property
    def end(self) -> int:
        return max(place for place in self.positions if place is not None) + 1

    def matched_lines(self, among: Sequence[bool] | None = None) -> list[int]:
        """Lines of the file that match a line of the block, or one of the lines selected by `among`."""
        lines = zip(self.positions, self.matches, among or [True] * len(self.positions), strict=True)
        return [place for place, match, is_asked in lines if place is not None and match.is_known and is_asked]

    def shift_by(self, by: int) -> "Alignment":
        """The same alignment further down in the file."""
        places = tuple(None if place is None else place + by for place in self.positions)
        elided = {index: (start + by, end + by) for index, (start, end) in self.elided.items()}
        return Alignment(places, self.matches, self.total_cost, elided)

    def shares_line_with(self, other: "Alignment") -> bool:
        """Check whether both align a line at the same position, and so are two views of one place."""
        pairs = zip(self.positions, other.positions, strict=True)
        return any(mine is not None and mine == theirs for mine, theirs in pairs)


def align(block: SearchBlock, target: IndexedFile, start: int, slack: int, limit: float = _NEVER) -> list[Alignment]:
    """Find the best alignments that start within `slack` lines of `start`, best first.

    No two of them share a line, and none costs more than `limit`.
    """
    table = _CostTable(block, target, start, slack, limit)
    if not table.has_match:
        return []
    found: list[Alignment] = []
    for end in table.end_positions()[:_MAX_TRACED]:
        alignment = table.trace_back(end)
        if table.is_meaningful(alignment) and not any(map(alignment.shares_line_with, found)):
            found.append(alignment)
            if len(found) == _MAX_ALIGNMENTS:
                break
    return found


def straight_walk_cost(block: SearchBlock, target: IndexedFile, start: int) -> float:
    """Cost of a greedy walk from `start`, an upper bound for the alignments around it.

    Infinite if no line matches on the way.
    """
    costs, keys, lines = CostMatrix(block, target), target.keys, len(target.lines)
    total, at, has_match = 0.0, start, False
    for index, key in enumerate(block.keys):
        if block.elisions[index]:
            until = _line_after_elision(block, target, index, at)
            if until is None:
                return _NEVER
            total += costs.missing_cost(index) + sum(costs.elided_costs(index, at, until))
            at = until
            continue
        while key and 0 <= at < lines and not keys[at]:
            total, at = total + weights.BLANK_COST, at + 1
        ahead = _lines_ahead(key, keys, at) if key else 0
        total, at = total + weights.EXTRA_COST * ahead, at + ahead
        match = costs.match(index, at) if 0 <= at < lines else IMPOSSIBLE
        has_match = has_match or (bool(key) and match.is_known)
        following = block.keys[index + 1 : index + 1 + _LOOKAHEAD]
        is_missing = match == IMPOSSIBLE or (not match.is_known and keys[at] in following)
        total += costs.missing_cost(index) if is_missing else match.cost
        at += not is_missing or at < 0
    return total if has_match else _NEVER


def verbatim_costs(block: SearchBlock, target: IndexedFile) -> Iterator[float]:
    """Costs of the places where all lines occur consecutively, with differences in white space and look-alikes only."""
    costs = CostMatrix(block, target)
    for start in target.find_runs(block.keys, limit=_MAX_RUNS):
        matches = [costs.match(index, start + index) for index in range(len(block.keys))]
        if all(match.is_exact for match in matches):
            yield sum(match.cost for match in matches)


def _lines_ahead(key: str, keys: Sequence[str], at: int) -> int:
    """Number of lines to the next occurrence of a key; 0 if there is none nearby."""
    near = keys[at : at + 1 + _LOOKAHEAD]
    return near.index(key) if at >= 0 and key in near else 0


def _line_after_elision(block: SearchBlock, target: IndexedFile, index: int, at: int) -> int | None:
    """Line at which the block continues after an elision; None if it does not."""
    following = next((line for line in range(index + 1, len(block.keys)) if block.keys[line]), None)
    if at < 0 or following is None:
        return None if at < 0 else at
    try:
        found = target.keys.index(block.keys[following], at, at + MAX_ELIDED_LINES)
    except ValueError:
        return None
    return max(found - (following - index - 1), at)


def alignment_window(block: SearchBlock, target: IndexedFile, start: int, slack: int) -> tuple[int, tuple[str, ...]]:
    """Lines that `align` looks at, and the index of `start` among them. Equal windows have equal alignments."""
    first = max(start - slack - 1, 0)
    end = max(start + slack, 0) + len(block.lines) + MAX_ELIDED_LINES * sum(block.elisions)
    return start - first, tuple(target.lines[first:end])


class _CostTable:
    """Minimal cost of each prefix of the block that ends at each line of a window of the file."""

    def __init__(self, block: SearchBlock, target: IndexedFile, start: int, slack: int, limit: float) -> None:
        self._block, self._target, self._limit = block, target, limit
        self._costs = CostMatrix(block, target)
        # Costs of elided lines are fractions, so that a nonmatching line may seem to match.
        self.has_match = any(block.elisions)
        self._size = len(target.lines)
        self._row_starts, self._rows, self._moves = list[int](), list[list[float]](), list[bytearray]()
        low, high = max(start - slack, 0), min(max(start + slack, 0), self._size)
        self._first = max(low - 1, 0)
        end = high + len(block.lines) + MAX_ELIDED_LINES * sum(block.elisions)
        least = self._lower_bounds(min(end, self._size))
        if least is None:
            self.has_match = False
            return
        left = [*accumulate(reversed(least), initial=0.0)][::-1]
        self._add_row(low, [0.0] * (high - low + 1), bytearray(high - low + 1))
        for index in range(len(block.lines)):
            low = min(max(start + index + 1 - slack, 0), self._size)
            high = min(high + 1 + (MAX_ELIDED_LINES if block.elisions[index] else 0), self._size)
            row_limit = limit - left[index + 1] + _ROUNDING
            self._fill_row(index, max(low, self._row_starts[-1]), high, least[index], row_limit)
            if not self._rows[-1]:
                self.has_match = False
                break

    def _lower_bounds(self, end: int) -> list[float] | None:
        """Lower bound for the cost of each line; None if their sum exceeds the limit or no line matches."""
        block, limit = self._block, self._limit
        there = frozenset(self._target.keys[self._first : end])
        self._is_escaped = self._target.has_escapes and has_escapes("".join(there))
        self._unescaped_keys = frozenset(map(strip_escapes, there)) if self._is_escaped else there
        unknown = [index for index, key in enumerate(block.keys) if key and key not in there]
        least = [0.0 if key in there else weights.BLANK_COST for key in block.keys]
        for index in unknown:
            least[index] = self._min_mismatch_cost(index)
        if sum(least) > limit:
            return None
        self._exclude_typos(least, unknown, there)
        if sum(least) > limit:
            return None
        keys, lines = self._target.keys[self._first : end], self._target.lines[self._first : end]
        self._extra = self._costs.extra_costs(self._first, end)
        # Lengths of the keys, 0 for lines that are not plain.
        if not self._is_escaped and all(map(str.isascii, lines)):
            self._sizes = list(map(len, keys))
        else:
            self._sizes = [len(key) if is_plain(line, key) else 0 for key, line in zip(keys, lines, strict=True)]
        has_match = len(unknown) < sum(map(bool, block.keys))
        if any(block.elisions):
            return least
        # The bounds are needed only as long as they may exceed the limit.
        total, most = sum(least), sum(least) + sum(weights.OTHER_COST - least[index] for index in unknown)
        for index in unknown:
            if has_match and most <= limit:
                break
            cheapest = self._cheapest_line(index, end)
            has_match = has_match or cheapest < weights.OTHER_COST
            total, most = total + cheapest - least[index], most + cheapest - weights.OTHER_COST
            least[index] = cheapest
            if total > limit:
                return None
        return least if has_match else None

    def _exclude_typos(self, bounds: list[float], unknown: Sequence[int], there: Collection[str]) -> None:
        """Raise the bounds of lines that are no typo of any line: at least a word differs."""
        typo_cost = weights.TYPO_COST + weights.CHARACTER_COST
        for index in unknown:
            if bounds[index] == typo_cost and not any(map(self._costs.comparer(index).may_be_typo, there)):
                bounds[index] = weights.WORD_COST

    def _cheapest_line(self, index: int, end: int) -> float:
        """Minimal cost of a line over all lines of the window, which is less than omitting it."""
        comparer = self._costs.comparer(index)
        (shortest, longest), known, lines = comparer.key_length_range, comparer.cache, self._target.lines
        best, least = float(weights.OTHER_COST), self._min_mismatch_cost(index)
        for at, size in enumerate(self._sizes, self._first):
            if not size or shortest <= size <= longest:
                cost = (known.get(lines[at]) or self._costs.match(index, at)).cost
                if cost < best:
                    best = cost
                    if best <= least:
                        break
        return best

    def _min_mismatch_cost(self, index: int) -> float:
        """Minimal cost of matching a line with a different key."""
        block = self._block
        if not block.keys[index]:
            return _NEVER
        may_be_escaped = self._is_escaped or has_escapes(block.keys[index])
        if block.elisions[index] or (may_be_escaped and strip_escapes(block.keys[index]) in self._unescaped_keys):
            return weights.ESCAPED_COST
        if index in {block.first_nonblank, block.last_nonblank}:
            return weights.CUT_COST
        has_dots = block.keys[index].endswith("...")
        return weights.ELIDED_END_COST if has_dots else weights.TYPO_COST + weights.CHARACTER_COST

    def end_positions(self) -> list[int]:
        """Possible ends of the alignment, cheapest first."""
        low, costs = self._row_starts[-1], self._rows[-1]
        ends = [low + offset for offset, cost in enumerate(costs) if cost < _NEVER and cost <= self._limit]
        return sorted(ends, key=lambda end: (costs[end - low], end))

    def trace_back(self, end: int) -> Alignment:
        """Reconstruct the alignment with this end."""
        total = self._rows[-1][end - self._row_starts[-1]]
        row, at = len(self._block.lines), end
        positions: list[int | None] = [None] * row
        matches = [SAME] * row
        elided: dict[int, tuple[int, int]] = {}
        while row:
            move = self._moves[row][at - self._row_starts[row]]
            if move == _MATCH:
                row, at = row - 1, at - 1
                positions[row], matches[row] = at, self._costs.match(row, at)
            elif move == _SKIP_BLOCK_LINE:
                row -= 1
                if self._block.elisions[row]:
                    elided[row] = at, elided.get(row, (at, at))[1]
                elif self._block.keys[row]:
                    matches[row] = MISSING
            else:
                at -= 1
                if self._block.elisions[row - 1]:
                    elided[row - 1] = at, elided.get(row - 1, (at, at + 1))[1]
        return Alignment(tuple(positions), tuple(matches), total, elided)

    def is_meaningful(self, alignment: Alignment) -> bool:
        """Check that any line matches that is not blank."""
        pairs = zip(self._block.keys, alignment.positions, alignment.matches, strict=True)
        return any(key and place is not None and match.is_known for key, place, match in pairs)

    def _add_row(self, low: int, costs: list[float], moves: bytearray) -> None:
        """Store a row without the unreachable cells at both ends."""
        while costs and costs[-1] == _NEVER:
            costs.pop()
        dead = next((offset for offset, cost in enumerate(costs) if cost < _NEVER), 0)
        self._row_starts.append(low + dead)
        self._rows.append(costs[dead:] if dead else costs)
        self._moves.append(moves[dead:] if dead else moves)

    def _fill_row(self, index: int, low: int, high: int, min_cost: float, limit: float) -> None:
        block, keys, lines = self._block, self._target.keys, self._target.lines
        key, is_elision, is_final = block.keys[index], block.elisions[index], index == len(block.lines) - 1
        comparer = self._costs.comparer(index)
        (shortest, longest), known = comparer.key_length_range, comparer.cache
        sizes, first, other_cost = self._sizes, self._first, weights.OTHER_COST
        skip_block_line, mismatch = self._costs.missing_cost(index), max(self._min_mismatch_cost(index), min_cost)
        above_low, above_row = self._row_starts[-1], self._rows[-1]
        before = [_NEVER, *above_row, _NEVER][low - above_low :]
        near = min(above_low + len(above_row), high)
        extra = self._skip_costs(index, low - 1, near)
        costs, moves = list[float](), bytearray()
        best = _NEVER
        for at, diagonal, above, skip_file_line in zip(range(low - 1, near), before, before[1:], extra, strict=False):
            if diagonal == above == best == _NEVER:
                costs.append(_NEVER)
                moves.append(_SKIP_BLOCK_LINE)
                continue
            last, best, move = best, above + skip_block_line, _SKIP_BLOCK_LINE
            if not is_final and last + skip_file_line < best:
                best, move = last + skip_file_line, _SKIP_FILE_LINE
            # The cost of a match is computed only if it can improve the cell.
            least = diagonal + mismatch if keys[at] != key else diagonal
            if diagonal < _NEVER and least <= best and least <= limit:
                size = sizes[at - first]
                if size and not is_elision and not shortest <= size <= longest:
                    cost = other_cost
                else:
                    cost = (known.get(lines[at]) or self._costs.match(index, at)).cost
                if diagonal + cost <= best:
                    best, move = diagonal + cost, _MATCH
                    if cost < other_cost and key:
                        self.has_match = True
            if best > limit:
                best = _NEVER
            costs.append(best)
            moves.append(move)
        if not is_final and best < _NEVER and near < high:
            further = accumulate(self._skip_costs(index, near, high), initial=best)
            behind = list(takewhile(limit.__ge__, further))[1:]
            costs += behind
            moves += bytes([_SKIP_FILE_LINE]) * len(behind)
        self._add_row(low, costs, moves)

    def _skip_costs(self, index: int, start: int, end: int) -> list[float]:
        """Cost of skipping each line of the file; nothing can be skipped before the first line."""
        if start < 0:
            return [_NEVER, *self._skip_costs(index, 0, end)]
        if self._block.elisions[index]:
            return self._costs.elided_costs(index, start, end)
        return self._extra[start - self._first : end - self._first]
