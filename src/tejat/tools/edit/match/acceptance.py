"""Acceptance of alignments: complete enough, and clearly better than all others."""

from collections.abc import Sequence
from itertools import pairwise

from tejat.core.frozen import frozen
from tejat.tools.edit.match.alignment import LineAlignment
from tejat.tools.edit.match.cost_matrix import STALE
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import CUT, ESCAPED, PER_CHARACTER, SLIP
from tejat.tools.edit.match.search_block import SearchBlock

_MIN_LENGTH = 3
_MIN_LENGTH_WITH_SLIP = 8
_WIDE_MARGIN, _CLEAR_MARGIN, _SLIGHT_MARGIN = 60, 20, 3
"""Cost by which the next best alignment must be worse."""
_CHARACTERS_PER_SLIP = 12
"""Characters that a single line with a typo needs for each typo."""


@frozen
class _Evidence:
    """Distinctive lines that match, match with a typo, or do not match (including extra lines of the file)."""

    same: int
    slips: int
    unmatched: int
    weight: int


def accept_alignments(
    given: SearchBlock, page: IndexedFile, found: Sequence[LineAlignment], expected: int | None
) -> list[LineAlignment]:
    """Select the alignments to edit, in the order of the file; none if that is uncertain."""
    if not found:
        return []
    count = expected if expected is not None else _count_tied(given, page, found)
    chosen = list(found[:count])
    if len(chosen) < count or not all(_is_sufficient(given, page, alignment) for alignment in chosen):
        return []
    if any(_is_rival(given, page, chosen[-1], other) for other in found[count:]):
        return []
    chosen.sort(key=lambda alignment: alignment.start)
    overlap = any(left.end > right.start for left, right in pairwise(chosen))
    return [] if overlap else chosen


def tied_alignments(given: SearchBlock, page: IndexedFile, found: Sequence[LineAlignment]) -> list[LineAlignment]:
    """List the alignments about as good as the best one."""
    if not found or not _is_sufficient(given, page, found[0]):
        return []
    return list(found[: _count_tied(given, page, found)])


def is_whitespace_match(given: SearchBlock, alignment: LineAlignment) -> bool:
    """Check that only white space and look-alike characters differ."""
    return all(cost < ESCAPED for cost in alignment.costs) and bool(given.lines)


def _count_tied(given: SearchBlock, page: IndexedFile, found: Sequence[LineAlignment]) -> int:
    return 1 + sum(_is_rival(given, page, found[0], other) for other in found[1:])


def _evidence(given: SearchBlock, page: IndexedFile, alignment: LineAlignment) -> _Evidence:
    same = slips = strange = weight = 0
    for index, cost in enumerate(alignment.costs):
        if cost >= STALE:
            strange += 1
        elif cost >= CUT:
            slips += 1
        elif given.distinctive[index] and alignment.positions[index] is not None:
            same += 1
            weight += len(given.keys[index])
    taken = {place for place in alignment.positions if place is not None}
    for start, end in alignment.elided_ranges.values():
        taken.update(range(start, end))
    extra = sum(1 for line in range(alignment.start, alignment.end) if line not in taken and page.keys[line])
    return _Evidence(same, slips, strange + extra, weight)


def _is_sufficient(given: SearchBlock, page: IndexedFile, alignment: LineAlignment) -> bool:
    """Check that enough of the block is there, regardless of other alignments."""
    evidence = _evidence(given, page, alignment)
    length = sum(map(len, given.keys))
    if length < _MIN_LENGTH:
        return False
    if evidence.unmatched:
        return evidence.same >= 2 * evidence.unmatched and evidence.same > evidence.slips and evidence.weight >= 20
    if not evidence.slips:
        return True
    if evidence.same:
        return evidence.slips <= evidence.same + 1
    worst = max(alignment.costs)
    if worst <= CUT:
        return length >= _MIN_LENGTH_WITH_SLIP
    return length >= _MIN_LENGTH_WITH_SLIP and sum(alignment.costs) <= SLIP * evidence.slips + PER_CHARACTER * max(
        length // _CHARACTERS_PER_SLIP + 1, 1
    )


def _is_rival(given: SearchBlock, page: IndexedFile, best: LineAlignment, other: LineAlignment) -> bool:
    """Check whether another alignment is nearly as good. The more differs, the wider the margin.

    An alignment that is better in no line rivals only if it is about equal. One that is better in some line may be the
    intended place with a line that has changed since.
    """
    is_better_anywhere = any(mine > theirs for mine, theirs in zip(best.costs, other.costs, strict=True))
    evidence = _evidence(given, page, best)
    worst = max(best.costs)
    if evidence.unmatched or (worst >= CUT and is_better_anywhere):
        margin = _WIDE_MARGIN
    elif worst >= SLIP + 3 * PER_CHARACTER:
        margin = _CLEAR_MARGIN
    elif worst >= SLIP + 2 * PER_CHARACTER:
        margin = 3 * PER_CHARACTER
    else:
        margin = PER_CHARACTER if worst > CUT else _SLIGHT_MARGIN
    return other.total_cost < best.total_cost + margin
