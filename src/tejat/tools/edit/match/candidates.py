"""Where in a file the given lines could stand: looks for telling lines or words, and compares closely only there."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.alignment import LineAlignment, align, alignment_window, straight_walk_cost
from tejat.tools.edit.match.cost_matrix import STALE
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import CUT, ESCAPED, PER_CHARACTER, SLIP, has_escapes
from tejat.tools.edit.match.normalize import split_words
from tejat.tools.edit.match.search_block import SearchBlock

MAX_MARGIN = 60
"""Places that cost so much more than the best one cannot rival it."""

_MAX_CANDIDATES = 8
_MAX_SHOWN = 3
"""Places beyond those that rival the best one are only shown, and no more than this."""
_MAX_LINE_WEIGHT = 30
"""What a line weighs at most, in characters: of two long lines, one is no better a sign than the other."""
_MAX_HITS = 20_000
_MAX_BY_WORDS = 3
_MAX_TIED = 60
"""Beyond the usual number, places for which as much speaks as for the best one, and so many at most."""
_MAX_UNKNOWN_LINES = 200
_MAX_ELISIONS = 40
"""Lines with a slip, and dots: with more of them it would take seconds, and nobody could say that it is the place."""
_MAX_LINES_SEARCHED = 4
_MAX_WORDS_SEARCHED = 3
_MAX_OCCURRENCES = 120
_MIN_WORD_LENGTH = 3
_NARROW_MARGIN = 4
_ROUNDING = 1e-6
_UNLIMITED = float("inf")


def find_candidates(
    given: SearchBlock, page: IndexedFile, *, max_places: int | None = None, start_lines: Sequence[int] = ()
) -> "Candidates":
    """The places that fit, the best first; none for a text that is too strange. They share no line.
    With `beginnings`, only there is looked.

    `several` is how many are looked for at most, where more than one is meant.
    """
    found = Candidates(given, page, is_one=max_places is None)
    strange = sum(
        telling and key not in page.key_set for key, telling in zip(given.keys, given.distinctive, strict=True)
    )
    if strange > _MAX_UNKNOWN_LINES or sum(given.elisions) > _MAX_ELISIONS:
        return found
    if start_lines:
        found.compare_at(start_lines)
        return found
    found.compare_best(_vote_by_lines(given, page), max_places or _MAX_CANDIDATES)
    if not found.alignments or found.may_be_beaten:
        found.compare_best(_vote_by_words(given, page), _MAX_BY_WORDS if max_places is None else _MAX_TIED)
    return found


class _Votes:
    """For each line of the file how much speaks for the given text beginning there, and how many lines say so."""

    def __init__(self) -> None:
        self.weights: Counter[int] = Counter()
        self.lines: Counter[int] = Counter()

    def add(self, start: int, weight: int, *, is_line: bool) -> None:
        self.weights[start] += weight
        self.lines[start] += is_line


class Candidates:
    """Places that fit. `rivals` are the best one and those that could rival it, or all where many are sought."""

    def __init__(self, given: SearchBlock, page: IndexedFile, *, is_one: bool) -> None:
        self.alignments: list[LineAlignment] = []
        self.is_truncated = False
        """Whether there are places that were not compared, for which as much speaks as for the best one."""
        self._block, self._target, self._is_single = given, page, is_one
        self._slack = 4 + min(len(given.lines) // 2, 10) if len(given.lines) > 1 else 0
        self._distinctive_count = sum(given.distinctive)
        self._is_escaped = page.has_escapes or any(map(has_escapes, given.keys))
        self._mismatch_cost = ESCAPED if self._is_escaped else CUT
        self._compared: dict[int, None] = {}
        self._window_cache: dict[tuple[int, tuple[str, ...]], tuple[int, list[LineAlignment]]] = {}

    def nearest_for_display(self) -> list[LineAlignment]:
        """Those that are shown when none is taken: they need not rival the best one, and most speaks for them."""
        found = list(self.alignments)
        self._window_cache.clear()
        for start in self._compared if self._is_single else ():
            if len(found) >= _MAX_SHOWN:
                break
            _add_alignments(found, self._align_at(start, _UNLIMITED))
        return found[:_MAX_SHOWN]

    @property
    def start_lines(self) -> Sequence[int]:
        """Where it was looked, the likeliest first."""
        return list(self._compared)

    def compare_at(self, beginnings: Sequence[int]) -> None:
        """Compare closely at these places."""
        for start in beginnings:
            self._compared[start] = None
            _add_alignments(self.alignments, self._align_at(start, self._rival_limit if self.alignments else None))

    def compare_best(self, votes: _Votes, most: int) -> None:
        """Compare closely at the beginnings that most speaks for, more than `slack` lines from each other."""
        weights, lines = _windowed_sums(votes.weights, self._slack // 2), _windowed_sums(votes.lines, self._slack)
        chosen: set[int] = set()
        best, least = self.alignments[0] if self.alignments else None, 0
        for start in sorted(weights, key=lambda start: (-weights[start] - votes.weights[start], start)):
            weight = weights[start] + votes.weights[start]
            if len(chosen) >= _MAX_SHOWN and self._is_hopeless:
                break
            if len(chosen) >= most and (weight < least or not least):
                break
            if len(chosen) >= most + _MAX_TIED:
                self.is_truncated = True
                break
            if any(near in chosen for near in range(start - self._slack, start + self._slack + 1)):
                continue
            # Every telling line that is not there as it is costs something.
            if self.alignments and self._mismatch_cost * (self._distinctive_count - lines[start]) > _rival_limit(
                self.alignments[0].total_cost
            ):
                continue
            chosen.add(start)
            if start not in self._compared:
                self._compared[start] = None
                _add_alignments(self.alignments, self._align_at(start, self._rival_limit if self.alignments else None))
            if self.alignments and self.alignments[0] is not best:
                best, least = self.alignments[0], weight
        if self._is_single and self.alignments:
            limit = _rival_limit(self.alignments[0].total_cost)
            self.alignments = [alignment for alignment in self.alignments if alignment.total_cost <= limit]

    @property
    def _rival_limit(self) -> float:
        """What a place may cost that could rival the best one."""
        return _rival_limit(self.alignments[0].total_cost) if self._is_single else _UNLIMITED

    def _align_at(self, start: int, limit: float | None) -> list[LineAlignment]:
        """Without a limit, the best one is not known."""
        # The same lines often stand in several places.
        stretch = alignment_window(self._block, self._target, start, self._slack)
        if stretch not in self._window_cache:
            found = (
                self._align_first(start)
                if limit is None
                else align(self._block, self._target, start, self._slack, limit)
            )
            self._window_cache[stretch] = start, found
        at, found = self._window_cache[stretch]
        return [alignment.shift_by(start - at) for alignment in found] if start != at else found

    def _align_first(self, start: int) -> list[LineAlignment]:
        given, page, slack = self._block, self._target, self._slack
        most = straight_walk_cost(given, page, start) + _ROUNDING if self._is_single else _UNLIMITED
        found = align(given, page, start, slack, _rival_limit(most))
        is_known = most == _UNLIMITED or (found and found[0].total_cost <= most)
        return found if is_known else align(given, page, start, slack)

    @property
    def _is_hopeless(self) -> bool:
        """Whether less than half of the text is at the best place: what is less likely need not be compared."""
        return (
            self._is_single
            and bool(self.alignments)
            and 2 * self.alignments[0].total_cost > STALE * max(self._distinctive_count, 2)
        )

    @property
    def may_be_beaten(self) -> bool:
        """Whether a place where no telling line is as it was given could be as good as the best one."""
        brinks = min(self._distinctive_count, 2)
        inner = ESCAPED if self._is_escaped else SLIP + PER_CHARACTER
        least = self._mismatch_cost * brinks + inner * (self._distinctive_count - brinks)
        return _rival_limit(self.alignments[0].total_cost) >= least


def _add_alignments(found: list[LineAlignment], more: Sequence[LineAlignment]) -> None:
    for alignment in more:
        rival = next((other for other in found if other.shares_line_with(alignment)), None)
        if rival is None:
            found.append(alignment)
        elif alignment.total_cost < rival.total_cost:
            found[found.index(rival)] = alignment
    found.sort(key=lambda alignment: alignment.total_cost)


def _rival_limit(best: float) -> float:
    """What a place may cost that could rival the best one."""
    return best + (_NARROW_MARGIN if best < CUT else MAX_MARGIN)


def _vote_by_lines(given: SearchBlock, page: IndexedFile) -> _Votes:
    """By telling lines that are the same."""
    wanted: dict[str, list[int]] = {}
    for index, (key, telling) in enumerate(zip(given.keys, given.distinctive, strict=True)):
        if telling or (key and not any(given.distinctive)):
            wanted.setdefault(key, []).append(index)
    votes = _Votes()
    hits = page.lines_by_key(wanted)
    counts = {key: len(lines) * len(wanted[key]) for key, lines in hits.items()}
    if sum(counts.values()) > _MAX_HITS:
        hits = {key: lines for key, lines in hits.items() if counts[key] <= _MAX_HITS // len(wanted)}
    for key, lines in hits.items():
        for index in wanted[key]:
            for at in lines:
                votes.add(at - index, min(len(key), _MAX_LINE_WEIGHT), is_line=True)
    return votes


def _vote_by_words(given: SearchBlock, page: IndexedFile) -> _Votes:
    """By the longest words of the longest lines, for lines that are not quite the same."""
    longest = sorted((i for i, telling in enumerate(given.distinctive) if telling), key=lambda i: -len(given.keys[i]))
    votes = _Votes()
    for index in longest[:_MAX_LINES_SEARCHED]:
        for at, weight in find_lines_with_words(given, index, page).items():
            votes.add(at - index, min(weight, _MAX_LINE_WEIGHT), is_line=False)
    return votes


def find_lines_with_words(given: SearchBlock, index: int, page: IndexedFile) -> dict[int, int]:
    """The lines of the file that have words of a line, the longest of them, and how much of it."""
    parts = {part for part in _search_terms(given, index) if len(part) >= _MIN_WORD_LENGTH}
    seen: dict[int, int] = {}
    for part in sorted(parts, key=lambda part: (-len(part), part))[:_MAX_WORDS_SEARCHED]:
        for line in page.find_lines_containing(part, limit=_MAX_OCCURRENCES):
            seen[line] = seen.get(line, 0) + len(part)
    return seen


def _search_terms(given: SearchBlock, index: int) -> Iterator[str]:
    key = given.keys[index]
    yield key
    half = len(key) // 2
    if half >= 2 * _MIN_WORD_LENGTH:
        yield key[:half]
        yield key[half:]
    yield from split_words(given.lines[index])


def _windowed_sums(numbers: "Counter[int]", reach: int) -> dict[int, int]:
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
