"""Lays the lines that were given along those of the file, so that all in all as little as possible differs."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile

from tejat.core.value import value
from tejat.tools.edit.given import Given
from tejat.tools.edit.likeness import CUT, ELIDED, ESCAPED, PER_CHARACTER, SLIP, is_plain, may_be_escaped
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import BLANK, EXTRA, MISSING, STALE, Pairs

_NEVER = float("inf")
_AHEAD = 4
_ROUNDING = 1e-6
MOST_ELIDED = 200
"""Lines that one `...` may stand for."""
_MATCH, _SKIP_GIVEN, _SKIP_FOUND = 1, 2, 3
_MOST_PLACES = 4
_MOST_TRACED = 8
_MOST_RUNS = 100


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

    def known(self, among: Sequence[bool] | None = None) -> list[int]:
        """The lines of the file that are given lines, or those `among` them, but for a slip."""
        pairs = zip(self.places, self.costs, among or [True] * len(self.places), strict=True)
        return [place for place, cost, is_asked in pairs if place is not None and cost < STALE and is_asked]

    def moved(self, by: int) -> "Alignment":
        """The same so many lines further down."""
        places = tuple(None if place is None else place + by for place in self.places)
        elided = {index: (start + by, end + by) for index, (start, end) in self.elided.items()}
        return Alignment(places, self.costs, self.total, elided)

    def shares_a_line(self, other: "Alignment") -> bool:
        """Whether both have a line at the same place, and so are two views of one place."""
        return any(mine is not None and mine == theirs for mine, theirs in zip(self.places, other.places, strict=True))


def align(given: Given, page: Page, start: int, slack: int, limit: float = _NEVER) -> list[Alignment]:
    """The best ways to lay the lines along the file, beginning `slack` lines around `start` at most; best first.

    They share no line, and none costs more than `limit`.
    """
    table = _Table(given, page, start, slack, limit)
    if not table.fits_any:
        return []
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


def cost_of_a_walk(given: Given, page: Page, start: int) -> float:
    """What it costs to lay the lines straight along the file from `start` on: no place near it need cost more.

    Where none of them fits there is no telling what a place costs.
    """
    pairs, keys, lines = Pairs(given, page), page.keys, len(page.lines)
    total, at, fits_any = 0.0, start, False
    for index, key in enumerate(given.keys):
        if given.elisions[index]:
            until = _behind_elision(given, page, index, at)
            if until is None:
                return _NEVER
            total += pairs.cost_of_missing(index) + sum(pairs.costs_of_elided(index, at, until))
            at = until
            continue
        while key and 0 <= at < lines and not keys[at]:
            total, at = total + BLANK, at + 1
        ahead = _ahead(key, keys, at) if key else 0
        total, at = total + EXTRA * ahead, at + ahead
        cost = pairs.cost(index, at) if 0 <= at < lines else _NEVER
        fits_any = fits_any or (bool(key) and cost < STALE)
        is_missing = cost == _NEVER or (cost >= STALE and keys[at] in given.keys[index + 1 : index + 1 + _AHEAD])
        total += pairs.cost_of_missing(index) if is_missing else cost
        at += not is_missing or at < 0
    return total if fits_any else _NEVER


def costs_as_it_stands(given: Given, page: Page) -> Iterator[float]:
    """What differs where all of the lines stand, but for white space and look-alikes: at each place, or at many."""
    pairs = Pairs(given, page)
    for start in page.runs_of(given.keys, most=_MOST_RUNS):
        costs = [pairs.cost(index, start + index) for index in range(len(given.keys))]
        if max(costs) < ESCAPED:
            yield sum(costs)


def _ahead(key: str, keys: Sequence[str], at: int) -> int:
    """How many lines further down the line stands: none if it does not."""
    near = keys[at : at + 1 + _AHEAD]
    return near.index(key) if at >= 0 and key in near else 0


def _behind_elision(given: Given, page: Page, index: int, at: int) -> int | None:
    """Where those lines begin that come behind dots."""
    following = next((line for line in range(index + 1, len(given.keys)) if given.keys[line]), None)
    if at < 0 or following is None:
        return None if at < 0 else at
    try:
        found = page.keys.index(given.keys[following], at, at + MOST_ELIDED)
    except ValueError:
        return None
    return max(found - (following - index - 1), at)


def stretch_for(given: Given, page: Page, start: int, slack: int) -> tuple[int, tuple[str, ...]]:
    """The lines that `align` looks at, and which of them `start` is: where these are the same, so is what it finds."""
    first = max(start - slack - 1, 0)
    end = max(start + slack, 0) + len(given.lines) + MOST_ELIDED * sum(given.elisions)
    return start - first, tuple(page.lines[first:end])


class _Table:
    """The least cost of every beginning of the given lines that ends at every line of a stretch of the file."""

    def __init__(self, given: Given, page: Page, start: int, slack: int, limit: float) -> None:
        self._given, self._page, self._limit = given, page, limit
        self._pairs = Pairs(given, page)
        # The costs of lines that were left out are no whole numbers, and then a line that is none may seem to fit.
        self.fits_any = any(given.elisions)
        self._size = len(page.lines)
        self._lows, self._rows, self._moves = list[int](), list[list[float]](), list[bytearray]()
        low, high = max(start - slack, 0), min(max(start + slack, 0), self._size)
        self._first = max(low - 1, 0)
        end = high + len(given.lines) + MOST_ELIDED * sum(given.elisions)
        least = self._least_costs(min(end, self._size))
        if least is None:
            self.fits_any = False
            return
        left = [*accumulate(reversed(least), initial=0.0)][::-1]
        self._add_row(low, [0.0] * (high - low + 1), bytearray(high - low + 1))
        for index in range(len(given.lines)):
            low = min(max(start + index + 1 - slack, 0), self._size)
            high = min(high + 1 + (MOST_ELIDED if given.elisions[index] else 0), self._size)
            self._fill(index, max(low, self._lows[-1]), high, limit - left[index + 1] + _ROUNDING)
            if not self._rows[-1]:
                self.fits_any = False
                break

    def _least_costs(self, end: int) -> list[float] | None:
        """What each line costs at least, wherever it is laid; None where that is too much, or no line fits."""
        given, limit = self._given, self._limit
        there = frozenset(self._page.keys[self._first : end])
        self._is_escaped = may_be_escaped("".join(there))
        strange = [index for index, key in enumerate(given.keys) if key and key not in there]
        least = [0.0 if key in there else BLANK for key in given.keys]
        for index in strange:
            least[index] = self._least(index)
        if sum(least) > limit:
            return None
        keys, lines = self._page.keys[self._first : end], self._page.lines[self._first : end]
        self._extra = [float(self._pairs.cost_of_extra(at)) for at in range(self._first, end)]
        # How long the keys are, 0 for those of lines that are not plain.
        self._sizes = [len(key) if is_plain(line, key) else 0 for key, line in zip(keys, lines, strict=True)]
        is_any_there = len(strange) < sum(map(bool, given.keys))
        if any(given.elisions) or (is_any_there and STALE * len(strange) <= limit):
            return least
        fits_any = is_any_there
        for index in strange:
            least[index] = self._least_of_all(index, end)
            fits_any = fits_any or least[index] < STALE
            if sum(least) > limit:
                return None
            if fits_any and limit == _NEVER:
                break
        return least if fits_any else None

    def _least_of_all(self, index: int, end: int) -> float:
        """What a line costs where it costs least; what it costs to leave it out is more than that."""
        likeness = self._pairs.likeness(index)
        (shortest, longest), known = likeness.sizes, likeness.known
        best = float(STALE)
        for at, (size, line) in enumerate(
            zip(self._sizes, self._page.lines[self._first : end], strict=True), self._first
        ):
            if size and not shortest <= size <= longest:
                continue
            if (cost := known.get(line)) is None:
                cost = self._pairs.cost(index, at)
            best = min(best, cost)
        return best

    def _least(self, index: int) -> int:
        """What a line costs at least that has another key."""
        given = self._given
        if self._is_escaped or given.elisions[index] or may_be_escaped(given.keys[index]):
            return ESCAPED
        is_whole = index not in {given.first, given.last}
        return CUT if not is_whole else ELIDED if given.keys[index].endswith("...") else SLIP + PER_CHARACTER

    def ends(self) -> list[int]:
        """Where the last line may end, the cheapest first."""
        low, costs = self._lows[-1], self._rows[-1]
        ends = [low + offset for offset, cost in enumerate(costs) if cost < _NEVER and cost <= self._limit]
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
        """Only from the first to the last that may still matter."""
        while costs and costs[-1] == _NEVER:
            costs.pop()
        dead = next((offset for offset, cost in enumerate(costs) if cost < _NEVER), 0)
        self._lows.append(low + dead)
        self._rows.append(costs[dead:] if dead else costs)
        self._moves.append(moves[dead:] if dead else moves)

    def _fill(self, index: int, low: int, high: int, limit: float) -> None:
        given, keys, lines = self._given, self._page.keys, self._page.lines
        key, is_elision, is_final = given.keys[index], given.elisions[index], index == len(given.lines) - 1
        likeness = self._pairs.likeness(index)
        (shortest, longest), known = likeness.sizes, likeness.known
        sizes, first = self._sizes, self._first
        skip_given, strange = self._pairs.cost_of_missing(index), self._least(index)
        above_low, above_row = self._lows[-1], self._rows[-1]
        before = [_NEVER, *above_row, _NEVER][low - above_low :]
        near = min(above_low + len(above_row), high)
        extra = self._costs_of_extra(index, low - 1, near)
        costs, moves = list[float](), bytearray()
        best = _NEVER
        for at, diagonal, above, skip_found in zip(range(low - 1, near), before, before[1:], extra, strict=False):
            if diagonal == above == best == _NEVER:
                costs.append(_NEVER)
                moves.append(_SKIP_GIVEN)
                continue
            last, best, move = best, above + skip_given, _SKIP_GIVEN
            if not is_final and last + skip_found < best:
                best, move = last + skip_found, _SKIP_FOUND
            # What the line costs is asked only where it matters.
            least = diagonal + strange if keys[at] != key else diagonal
            if diagonal < _NEVER and least <= best and least <= limit:
                size = sizes[at - first]
                if size and not is_elision and not shortest <= size <= longest:
                    cost = STALE
                elif (cost := known.get(lines[at])) is None:
                    cost = self._pairs.cost(index, at)
                if diagonal + cost <= best:
                    best, move = diagonal + cost, _MATCH
                    if cost < STALE and key:
                        self.fits_any = True
            if best > limit:
                best = _NEVER
            costs.append(best)
            moves.append(move)
        if not is_final and best < _NEVER and near < high:
            further = accumulate(self._costs_of_extra(index, near, high), initial=best)
            behind = list(takewhile(limit.__ge__, further))[1:]
            costs += behind
            moves += bytes([_SKIP_FOUND]) * len(behind)
        self._add_row(low, costs, moves)

    def _costs_of_extra(self, index: int, start: int, end: int) -> list[float]:
        """What it costs to skip each line of the file; it cannot be done before the first one."""
        if start < 0:
            return [_NEVER, *self._costs_of_extra(index, 0, end)]
        if self._given.elisions[index]:
            return self._pairs.costs_of_elided(index, start, end)
        return self._extra[start - self._first : end - self._first]
