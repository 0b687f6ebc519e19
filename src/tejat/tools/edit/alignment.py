"""Lays the lines that were given along those of the file, so that all in all as little as possible differs."""

from tejat.core.value import value
from tejat.tools.edit.folding import names_of
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import CUT, cost_of, cost_of_dots
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
_MOST_ELIDED = 400
"""Lines that one `...` may stand for."""
_MATCH, _SKIP_GIVEN, _SKIP_FOUND = 1, 2, 3
_MOST_PLACES = 4
_MOST_TRACED = 8


@value
class Alignment:
    """Where each given line stands in the file, and what that costs.

    `places` holds None for lines that are not there, and for those that stand for others: of these, `elided` has the
    lines of the file from the first up to the one behind the last. `costs` are those of the lines that are there.
    """

    places: tuple[int | None, ...]
    costs: tuple[float, ...]
    total: float
    elided: dict[int, tuple[int, int]]

    @property
    def start(self) -> int:
        return min(place for place in self.places if place is not None)

    @property
    def end(self) -> int:
        return max(place for place in self.places if place is not None) + 1

    def known(self) -> list[int]:
        """The lines of the file that are given lines, but for a slip."""
        return [
            place for place, cost in zip(self.places, self.costs, strict=True) if place is not None and cost < STALE
        ]

    def shares_a_line(self, other: "Alignment") -> bool:
        """Whether both have a line at the same place, and so are two views of one place."""
        return any(mine is not None and mine == theirs for mine, theirs in zip(self.places, other.places, strict=True))


def align(given: Given, page: Page, start: int, slack: int) -> list[Alignment]:
    """The best ways to lay the lines along the file, beginning `slack` lines around `start` at most; best first.

    They share no line.
    """
    table = _Table(given, page, start, slack)
    found: list[Alignment] = []
    for end in table.ends()[:_MOST_TRACED]:
        alignment = table.trace(end)
        if not table.says_anything(alignment):
            continue
        if not any(alignment.shares_a_line(other) for other in found):
            found.append(alignment)
            if len(found) == _MOST_PLACES:
                break
    return found


class _Table:
    """The least cost of every beginning of the given lines that ends at every line of a stretch of the file."""

    def __init__(self, given: Given, page: Page, start: int, slack: int) -> None:
        self._given, self._page = given, page
        self._size = len(page.lines)
        self._lows, self._rows, self._moves = list[int](), list[list[float]](), list[bytearray]()
        low, high = max(start - slack, 0), min(max(start + slack, 0), self._size)
        self._add_row(low, [0.0] * (high - low + 1), bytearray(high - low + 1))
        for index in range(len(given.lines)):
            low = min(max(start + index + 1 - slack, 0), self._size)
            high = min(high + 1 + (_MOST_ELIDED if given.elisions[index] else 0), self._size)
            self._fill(index, low, high)

    def ends(self) -> list[int]:
        """Where the last line may end, the cheapest first."""
        low, costs = self._lows[-1], self._rows[-1]
        ends = [low + offset for offset, cost in enumerate(costs) if cost < _NEVER]
        return sorted(ends, key=lambda end: (costs[end - low], end))

    def trace(self, end: int) -> Alignment:
        """The way back from an end."""
        total = self._rows[-1][end - self._lows[-1]]
        row, at = len(self._given.lines), end
        places: list[int | None] = [None] * row
        costs = [0.0] * row
        elided: dict[int, tuple[int, int]] = {}
        while row:
            move = self._moves[row][at - self._lows[row]]
            if move == _MATCH:
                before = self._rows[row - 1][at - 1 - self._lows[row - 1]]
                costs[row - 1] = self._rows[row][at - self._lows[row]] - before
                row, at = row - 1, at - 1
                places[row] = at
            elif move == _SKIP_GIVEN:
                row -= 1
                if self._given.elisions[row]:
                    elided[row] = at, elided.get(row, (at, at))[1]
                elif self._given.keys[row]:
                    costs[row] = MISSING
            else:
                at -= 1
                if self._given.elisions[row - 1]:
                    elided[row - 1] = at, elided.get(row - 1, (at, at + 1))[1]
        return Alignment(tuple(places), tuple(costs), total, elided)

    def says_anything(self, alignment: Alignment) -> bool:
        """Whether any line fits that is not blank."""
        keys = self._given.keys
        return any(
            place is not None and keys[index] and alignment.costs[index] < STALE
            for index, place in enumerate(alignment.places)
        )

    def _add_row(self, low: int, costs: list[float], moves: bytearray) -> None:
        self._lows.append(low)
        self._rows.append(costs)
        self._moves.append(moves)

    def _fill(self, index: int, low: int, high: int) -> None:
        given = self._given
        line, key, is_elision = given.lines[index], given.keys[index], given.elisions[index]
        before, before_low = self._rows[-1], self._lows[-1]
        is_first, is_last, is_final = index == given.first, index == given.last, index == len(given.lines) - 1
        skip_given = ELISION if is_elision else MISSING if key else BLANK
        costs, moves = list[float](), bytearray()
        for at in range(low, high + 1):
            best, move = _NEVER, 0
            offset = at - before_low
            if 0 < offset <= len(before) and before[offset - 1] < _NEVER:
                best, move = before[offset - 1] + self._cost(line, key, at - 1, is_first, is_last, is_elision), _MATCH
            if 0 <= offset < len(before) and before[offset] + skip_given < best:
                best, move = before[offset] + skip_given, _SKIP_GIVEN
            if at > low and not is_final:
                skipped = costs[-1] + self._cost_of_extra(at - 1, line, is_elision)
                if skipped < best:
                    best, move = skipped, _SKIP_FOUND
            costs.append(best)
            moves.append(move)
        self._add_row(low, costs, moves)

    def _cost(self, line: str, key: str, at: int, is_first: bool, is_last: bool, is_elision: bool) -> float:
        found_key = self._page.keys[at]
        if key != found_key and (not key or not found_key):
            return _NEVER
        if is_elision and key != found_key:
            return _NEVER if cost_of_dots(line, found_key) is None else ELISION - 1
        cost = cost_of(line, self._page.lines[at], key, found_key, is_first=is_first, is_last=is_last)
        return STALE if cost is None or (cost > CUT and self._is_another_thing(line, at)) else cost

    def _is_another_thing(self, line: str, at: int) -> bool:
        """Whether the line defines something that the file has elsewhere, and this line something else."""
        names = names_of(line)
        return names != names_of(self._page.lines[at]) and any(map(self._page.has_word, names))

    def _cost_of_extra(self, at: int, line: str, is_elision: bool) -> float:
        if not self._page.keys[at]:
            return 0.05 if is_elision else BLANK
        if not is_elision:
            return EXTRA
        # What was left out belongs to the block that the dots stand in.
        first = self._given.lines[self._given.first]
        is_deeper = len(indent_of(line)) > len(indent_of(first))
        return EXTRA if is_deeper and not indent_of(self._page.lines[at]) else 0.05
