"""Candidate places of a search block: found by distinctive lines or words, then aligned."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, count

from tejat.tools.edit import weights
from tejat.tools.edit.match.alignment import Alignment, align, alignment_window, straight_walk_cost
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_comparer import has_escapes
from tejat.tools.edit.match.normalize import split_words
from tejat.tools.edit.match.search_block import SearchBlock

_MAX_CANDIDATES = 8
_MAX_SHOWN = 3
"""Limit for places that do not rival the best one and are only shown."""
_MAX_LINE_WEIGHT = 30
"""Maximal weight of a line, in characters: longer lines are no better evidence."""
_MAX_HITS = 20_000
_MAX_BY_WORDS = 3
_MAX_TIED = 60
"""Limit for further places with as many votes as the best one."""
_MAX_UNKNOWN_LINES = 200
_MAX_ELISIONS = 40
"""Limits for unknown lines and elisions: beyond them the search takes seconds, and no place could be certain."""
_MAX_LINES_SEARCHED = 4
_MAX_WORDS_SEARCHED = 3
_MAX_OCCURRENCES = 120
_MIN_WORD_LENGTH = 3
_ROUNDING = 1e-6
_UNLIMITED = float("inf")


def find_candidates(
    block: SearchBlock, target: IndexedFile, *, max_places: int | None = None, start_lines: Sequence[int] = ()
) -> "Candidates":
    """Find the alignments of a block, best first; none if too much of it is unknown. They share no line.

    `max_places` is the limit if several places are meant. `start_lines` restricts the search.
    """
    found = Candidates(block, target, is_single=max_places is None)
    unknown = sum(key not in target.key_set for key in compress(block.keys, block.distinctive))
    if unknown > _MAX_UNKNOWN_LINES or sum(block.elisions) > _MAX_ELISIONS:
        return found
    if start_lines:
        found.compare_at(start_lines)
        return found
    found.compare_best(_vote_by_lines(block, target), max_places or _MAX_CANDIDATES)
    if not found.alignments or found.may_be_beaten:
        found.compare_best(_vote_by_words(block, target), _MAX_BY_WORDS if max_places is None else _MAX_TIED)
    return found


class _Votes:
    """Weight of the evidence for each start line, and the number of equal lines behind it."""

    def __init__(self) -> None:
        self.weights: dict[int, int] = {}
        self.lines: dict[int, int] = {}

    def add(self, starts: Iterable[int], weight: int) -> None:
        weights = self.weights
        for start in starts:
            weights[start] = weights.get(start, 0) + weight


class Candidates:
    """Alignments of a block: the best one and its rivals, or all if several places are wanted."""

    def __init__(self, block: SearchBlock, target: IndexedFile, *, is_single: bool) -> None:
        self.alignments: list[Alignment] = []
        self.is_truncated = False
        """Whether places with as many votes as the best one were not compared."""
        self._block, self._target, self._is_single = block, target, is_single
        self._slack = 4 + min(len(block.lines) // 2, 10) if len(block.lines) > 1 else 0
        self._distinctive_count = sum(block.distinctive)
        self._is_escaped = target.has_escapes or any(map(has_escapes, block.keys))
        self._mismatch_cost = weights.ESCAPED_COST if self._is_escaped else weights.CUT_COST
        self._compared: dict[int, None] = {}
        self._window_cache: dict[tuple[int, tuple[str, ...]], tuple[int, list[Alignment]]] = {}

    def nearest_for_display(self) -> list[Alignment]:
        """Nearest alignments for an error message; they need not rival the best one."""
        found = list(self.alignments)
        self._window_cache.clear()
        for start in self._compared if self._is_single else ():
            if len(found) >= _MAX_SHOWN:
                break
            _add_alignments(found, self._align_at(start, _UNLIMITED))
        return found[:_MAX_SHOWN]

    @property
    def start_lines(self) -> Sequence[int]:
        """Start lines that were compared, most likely first."""
        return list(self._compared)

    def compare_at(self, start_lines: Sequence[int]) -> None:
        """Align at these start lines."""
        for start in start_lines:
            self._compared[start] = None
            _add_alignments(self.alignments, self._align_at(start, self._rival_limit if self.alignments else None))

    def compare_best(self, votes: _Votes, max_starts: int) -> None:
        """Align at the start lines with most votes that are more than `slack` lines apart."""
        scores, lines = _windowed_sums(votes.weights, self._slack // 2), _windowed_sums(votes.lines, self._slack)
        chosen, near_chosen = set[int](), set[int]()
        best, least = self.alignments[0] if self.alignments else None, 0
        for negative_weight, start in sorted(
            (-scores[start] - weight, start) for start, weight in votes.weights.items()
        ):
            weight = -negative_weight
            is_hopeless = len(chosen) >= _MAX_SHOWN and self._is_hopeless
            if is_hopeless or (len(chosen) >= max_starts and (weight < least or not least)):
                break
            if len(chosen) >= max_starts + _MAX_TIED:
                self.is_truncated = True
                break
            if start in near_chosen:
                continue
            # Each distinctive line that does not match exactly costs something.
            differing = self._mismatch_cost * (self._distinctive_count - lines.get(start, 0))
            if self.alignments and differing > _rival_limit(self.alignments[0].total_cost):
                continue
            chosen.add(start)
            near_chosen.update(range(start - self._slack, start + self._slack + 1))
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
        """Maximal cost of an alignment that rivals the best one."""
        return _rival_limit(self.alignments[0].total_cost) if self._is_single else _UNLIMITED

    def _align_at(self, start: int, limit: float | None) -> list[Alignment]:
        """Align at a start line. Without a limit, the best alignment is not known yet."""
        # The same lines often occur in several places.
        block, target, slack = self._block, self._target, self._slack
        window = alignment_window(block, target, start, slack)
        if window not in self._window_cache:
            found = self._align_first(start) if limit is None else align(block, target, start, slack, limit)
            self._window_cache[window] = start, found
        at, found = self._window_cache[window]
        return [alignment.shift_by(start - at) for alignment in found] if start != at else found

    def _align_first(self, start: int) -> list[Alignment]:
        block, target, slack = self._block, self._target, self._slack
        most = straight_walk_cost(block, target, start) + _ROUNDING if self._is_single else _UNLIMITED
        found = align(block, target, start, slack, _rival_limit(most))
        is_known = most == _UNLIMITED or (found and found[0].total_cost <= most)
        return found if is_known else align(block, target, start, slack)

    @property
    def _is_hopeless(self) -> bool:
        """Check whether the best place matches less than half of the block, so that others need not be compared."""
        return (
            self._is_single
            and bool(self.alignments)
            and 2 * self.alignments[0].total_cost > weights.OTHER_COST * max(self._distinctive_count, 2)
        )

    @property
    def may_be_beaten(self) -> bool:
        """Check whether a place without any exact line could be as good as the best one."""
        edges = min(self._distinctive_count, 2)
        inner = weights.ESCAPED_COST if self._is_escaped else weights.TYPO_COST + weights.CHARACTER_COST
        least = self._mismatch_cost * edges + inner * (self._distinctive_count - edges)
        return _rival_limit(self.alignments[0].total_cost) >= least


def _add_alignments(found: list[Alignment], more: Sequence[Alignment]) -> None:
    for alignment in more:
        rival = next((other for other in found if other.shares_line_with(alignment)), None)
        if rival is None:
            found.append(alignment)
        elif alignment.total_cost < rival.total_cost:
            found[found.index(rival)] = alignment
    found.sort(key=lambda alignment: alignment.total_cost)


def _rival_limit(best: float) -> float:
    """Maximal cost of an alignment that rivals one with this cost."""
    return best + (weights.CHARACTER_MARGIN if best < weights.CUT_COST else weights.WIDE_MARGIN)


def _vote_by_lines(block: SearchBlock, target: IndexedFile) -> _Votes:
    """Vote by equal distinctive lines."""
    wanted: dict[str, list[int]] = {}
    for index, (key, is_distinctive) in enumerate(zip(block.keys, block.distinctive, strict=True)):
        if is_distinctive or (key and not any(block.distinctive)):
            wanted.setdefault(key, []).append(index)
    votes = _Votes()
    hits = target.lines_by_key(wanted)
    counts = {key: len(lines) * len(wanted[key]) for key, lines in hits.items()}
    if sum(counts.values()) > _MAX_HITS:
        hits = {key: lines for key, lines in hits.items() if counts[key] <= _MAX_HITS // len(wanted)}
    for key, lines in hits.items():
        weight = min(len(key), _MAX_LINE_WEIGHT)
        for index in wanted[key]:
            starts = [at - index for at in lines]
            votes.add(starts, weight)
            for start in starts:
                votes.lines[start] = votes.lines.get(start, 0) + 1
    return votes


def _vote_by_words(block: SearchBlock, target: IndexedFile) -> _Votes:
    """Vote by the longest words of the longest lines, for lines that are not quite equal."""
    longest = sorted(compress(count(), block.distinctive), key=lambda index: -len(block.keys[index]))
    votes = _Votes()
    for index in longest[:_MAX_LINES_SEARCHED]:
        for at, weight in find_lines_with_words(block, index, target).items():
            votes.add([at - index], min(weight, _MAX_LINE_WEIGHT))
    return votes


def find_lines_with_words(block: SearchBlock, index: int, target: IndexedFile) -> dict[int, int]:
    """Find the file lines with the longest words of a line, weighted by how much of it they have."""
    parts = {part for part in _search_terms(block, index) if len(part) >= _MIN_WORD_LENGTH}
    seen: dict[int, int] = {}
    for part in sorted(parts, key=lambda part: (-len(part), part))[:_MAX_WORDS_SEARCHED]:
        for line in target.find_lines_containing(part, limit=_MAX_OCCURRENCES):
            seen[line] = seen.get(line, 0) + len(part)
    return seen


def _search_terms(block: SearchBlock, index: int) -> Iterator[str]:
    key = block.keys[index]
    yield key
    half = len(key) // 2
    if half >= 2 * _MIN_WORD_LENGTH:
        yield key[:half]
        yield key[half:]
    yield from split_words(block.lines[index])


def _windowed_sums(numbers: "dict[int, int]", reach: int) -> dict[int, int]:
    """Sum of each start line and its neighbors, which extra and missing lines have shifted."""
    ordered = sorted(numbers)
    totals = list(accumulate(map(numbers.__getitem__, ordered), initial=0))
    sums: dict[int, int] = {}
    low = high = 0
    for start in ordered:
        while high < len(ordered) and ordered[high] <= start + reach:
            high += 1
        while ordered[low] < start - reach:
            low += 1
        sums[start] = totals[high] - totals[low]
    return sums
