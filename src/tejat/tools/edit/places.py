"""Where in a file the given lines could stand: looks for telling lines or words, and compares closely only there."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tejat.tools.edit.alignment import Alignment, align, cost_of_a_walk, stretch_for
from tejat.tools.edit.folding import words_of
from tejat.tools.edit.given import Given
from tejat.tools.edit.likeness import CUT, ESCAPED, PER_CHARACTER, SLIP, may_be_escaped
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE

WIDEST_MARGIN = 60
"""Places that cost so much more than the best one cannot rival it."""

_MOST = 8
_MOST_SHOWN = 3
"""Places beyond those that rival the best one are only shown, and no more than this."""
_HEAVIEST = 30
"""What a line weighs at most, in characters: of two long lines, one is no better a sign than the other."""
_MOST_HITS = 20_000
_MOST_BY_WORDS = 3
_MOST_ALIKE = 60
"""Beyond the usual number, places for which as much speaks as for the best one, and so many at most."""
_MOST_STRANGE = 200
_MOST_ELISIONS = 40
"""Lines with a slip, and dots: with more of them it would take seconds, and nobody could say that it is the place."""
_MOST_LINES_SOUGHT = 4
_MOST_WORDS_SOUGHT = 3
_MOST_OCCURRENCES = 120
_SHORTEST_WORD = 3
_NARROW_MARGIN = 4
_ROUNDING = 1e-6
_ANY = float("inf")


def places(given: Given, page: Page, *, several: int | None = None, beginnings: Sequence[int] = ()) -> "Places":
    """The places that fit, the best first; none for a text that is too strange. They share no line.
    With `beginnings`, only there is looked.

    `several` is how many are looked for at most, where more than one is meant.
    """
    found = Places(given, page, is_one=several is None)
    strange = sum(telling and key not in page.key_set for key, telling in zip(given.keys, given.telling, strict=True))
    if strange > _MOST_STRANGE or sum(given.elisions) > _MOST_ELISIONS:
        return found
    if beginnings:
        found.compare(beginnings)
        return found
    found.look(_by_lines(given, page), several or _MOST)
    if not found.rivals or found.may_be_surpassed:
        found.look(_by_words(given, page), _MOST_BY_WORDS if several is None else _MOST_ALIKE)
    return found


class _Votes:
    """For each line of the file how much speaks for the given text beginning there, and how many lines say so."""

    def __init__(self) -> None:
        self.weights: Counter[int] = Counter()
        self.lines: Counter[int] = Counter()

    def add(self, start: int, weight: int, *, is_line: bool) -> None:
        self.weights[start] += weight
        self.lines[start] += is_line


class Places:
    """Places that fit. `rivals` are the best one and those that could rival it, or all where many are sought."""

    def __init__(self, given: Given, page: Page, *, is_one: bool) -> None:
        self.rivals: list[Alignment] = []
        self.are_too_many = False
        """Whether there are places that were not compared, for which as much speaks as for the best one."""
        self._given, self._page, self._is_one = given, page, is_one
        self._slack = 4 + min(len(given.lines) // 2, 10) if len(given.lines) > 1 else 0
        self._telling = sum(given.telling)
        self._is_escaped = page.is_escaped or any(map(may_be_escaped, given.keys))
        self._strange = ESCAPED if self._is_escaped else CUT
        self._compared: dict[int, None] = {}
        self._stretches: dict[tuple[int, tuple[str, ...]], tuple[int, list[Alignment]]] = {}

    def shown(self) -> list[Alignment]:
        """Those that are shown when none is taken: they need not rival the best one, and most speaks for them."""
        found = list(self.rivals)
        self._stretches.clear()
        for start in self._compared if self._is_one else ():
            if len(found) >= _MOST_SHOWN:
                break
            _add(found, self._aligned(start, _ANY))
        return found[:_MOST_SHOWN]

    @property
    def beginnings(self) -> Sequence[int]:
        """Where it was looked, the likeliest first."""
        return list(self._compared)

    def compare(self, beginnings: Sequence[int]) -> None:
        """Compare closely at these places."""
        for start in beginnings:
            self._compared[start] = None
            _add(self.rivals, self._aligned(start, self._limit if self.rivals else None))

    def look(self, votes: _Votes, most: int) -> None:
        """Compare closely at the beginnings that most speaks for, more than `slack` lines from each other."""
        weights, lines = _summed(votes.weights, self._slack // 2), _summed(votes.lines, self._slack)
        chosen: set[int] = set()
        best, least = self.rivals[0] if self.rivals else None, 0
        for start in sorted(weights, key=lambda start: (-weights[start] - votes.weights[start], start)):
            weight = weights[start] + votes.weights[start]
            if len(chosen) >= _MOST_SHOWN and self._is_hopeless:
                break
            if len(chosen) >= most and (weight < least or not least):
                break
            if len(chosen) >= most + _MOST_ALIKE:
                self.are_too_many = True
                break
            if any(near in chosen for near in range(start - self._slack, start + self._slack + 1)):
                continue
            # Every telling line that is not there as it is costs something.
            if self.rivals and self._strange * (self._telling - lines[start]) > _limit(self.rivals[0].total):
                continue
            chosen.add(start)
            if start not in self._compared:
                self._compared[start] = None
                _add(self.rivals, self._aligned(start, self._limit if self.rivals else None))
            if self.rivals and self.rivals[0] is not best:
                best, least = self.rivals[0], weight
        if self._is_one and self.rivals:
            limit = _limit(self.rivals[0].total)
            self.rivals = [alignment for alignment in self.rivals if alignment.total <= limit]

    @property
    def _limit(self) -> float:
        """What a place may cost that could rival the best one."""
        return _limit(self.rivals[0].total) if self._is_one else _ANY

    def _aligned(self, start: int, limit: float | None) -> list[Alignment]:
        """Without a limit, the best one is not known."""
        # The same lines often stand in several places.
        stretch = stretch_for(self._given, self._page, start, self._slack)
        if stretch not in self._stretches:
            found = self._first(start) if limit is None else align(self._given, self._page, start, self._slack, limit)
            self._stretches[stretch] = start, found
        at, found = self._stretches[stretch]
        return [alignment.moved(start - at) for alignment in found] if start != at else found

    def _first(self, start: int) -> list[Alignment]:
        given, page, slack = self._given, self._page, self._slack
        most = cost_of_a_walk(given, page, start) + _ROUNDING if self._is_one else _ANY
        found = align(given, page, start, slack, _limit(most))
        is_known = most == _ANY or (found and found[0].total <= most)
        return found if is_known else align(given, page, start, slack)

    @property
    def _is_hopeless(self) -> bool:
        """Whether less than half of the text is at the best place: what is less likely need not be compared."""
        return self._is_one and bool(self.rivals) and 2 * self.rivals[0].total > STALE * max(self._telling, 2)

    @property
    def may_be_surpassed(self) -> bool:
        """Whether a place where no telling line is as it was given could be as good as the best one."""
        brinks = min(self._telling, 2)
        inner = ESCAPED if self._is_escaped else SLIP + PER_CHARACTER
        least = self._strange * brinks + inner * (self._telling - brinks)
        return _limit(self.rivals[0].total) >= least


def _add(found: list[Alignment], more: Sequence[Alignment]) -> None:
    for alignment in more:
        rival = next((other for other in found if other.shares_a_line(alignment)), None)
        if rival is None:
            found.append(alignment)
        elif alignment.total < rival.total:
            found[found.index(rival)] = alignment
    found.sort(key=lambda alignment: alignment.total)


def _limit(best: float) -> float:
    """What a place may cost that could rival the best one."""
    return best + (_NARROW_MARGIN if best < CUT else WIDEST_MARGIN)


def _by_lines(given: Given, page: Page) -> _Votes:
    """By telling lines that are the same."""
    wanted: dict[str, list[int]] = {}
    for index, (key, telling) in enumerate(zip(given.keys, given.telling, strict=True)):
        if telling or (key and not any(given.telling)):
            wanted.setdefault(key, []).append(index)
    votes = _Votes()
    hits = page.lines_of(wanted)
    counts = {key: len(lines) * len(wanted[key]) for key, lines in hits.items()}
    if sum(counts.values()) > _MOST_HITS:
        hits = {key: lines for key, lines in hits.items() if counts[key] <= _MOST_HITS // len(wanted)}
    for key, lines in hits.items():
        for index in wanted[key]:
            for at in lines:
                votes.add(at - index, min(len(key), _HEAVIEST), is_line=True)
    return votes


def _by_words(given: Given, page: Page) -> _Votes:
    """By the longest words of the longest lines, for lines that are not quite the same."""
    longest = sorted((i for i, telling in enumerate(given.telling) if telling), key=lambda i: -len(given.keys[i]))
    votes = _Votes()
    for index in longest[:_MOST_LINES_SOUGHT]:
        for at, weight in lines_with_words(given, index, page).items():
            votes.add(at - index, min(weight, _HEAVIEST), is_line=False)
    return votes


def lines_with_words(given: Given, index: int, page: Page) -> dict[int, int]:
    """The lines of the file that have words of a line, the longest of them, and how much of it."""
    parts = {part for part in _parts(given, index) if len(part) >= _SHORTEST_WORD}
    seen: dict[int, int] = {}
    for part in sorted(parts, key=lambda part: (-len(part), part))[:_MOST_WORDS_SOUGHT]:
        for line in page.lines_with(part, most=_MOST_OCCURRENCES):
            seen[line] = seen.get(line, 0) + len(part)
    return seen


def _parts(given: Given, index: int) -> Iterator[str]:
    key = given.keys[index]
    yield key
    half = len(key) // 2
    if half >= 2 * _SHORTEST_WORD:
        yield key[:half]
        yield key[half:]
    yield from words_of(given.lines[index])


def _summed(numbers: "Counter[int]", reach: int) -> dict[int, int]:
    """The number of each beginning and of those next to it, which lines too many or too few have shifted."""
    ordered = sorted(numbers)
    sums: dict[int, int] = {}
    low = high = total = 0
    for start in ordered:
        while high < len(ordered) and ordered[high] <= start + reach:
            total += numbers[ordered[high]]
            high += 1
        while ordered[low] < start - reach:
            total -= numbers[ordered[low]]
            low += 1
        sums[start] = total
    return sums
