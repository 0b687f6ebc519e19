"""Which of the places that fit are the ones that were meant: all of it is there, and no other fits nearly as well."""

from collections.abc import Sequence
from itertools import pairwise

from tejat.core.value import value
from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.given import Given
from tejat.tools.edit.likeness import CUT, ESCAPED, PER_CHARACTER, SLIP
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE

_SHORTEST = 3
_SHORTEST_WITH_A_SLIP = 8
_WIDE, _CLEAR, _SLIGHT = 60, 20, 3
"""How much worse the next best place has to be."""
_SURE_CHARACTERS = 12
"""A line that stands alone and has a slip needs so many characters for each that differs."""


@value
class _Evidence:
    """How many telling lines are there as given, with a slip, or not at all; and how many only the file has."""

    same: int
    slips: int
    strange: int
    weight: int


def meant(given: Given, page: Page, found: Sequence[Alignment], expected: int | None) -> list[Alignment]:
    """The places that were meant, in the order of the file; none if that is not certain."""
    if not found:
        return []
    count = expected if expected is not None else _alike(given, page, found)
    chosen = list(found[:count])
    if len(chosen) < count or not all(_is_there(given, page, alignment) for alignment in chosen):
        return []
    if any(_is_rival(given, page, chosen[-1], other) for other in found[count:]):
        return []
    chosen.sort(key=lambda alignment: alignment.start)
    overlap = any(left.end > right.start for left, right in pairwise(chosen))
    return [] if overlap else chosen


def as_good(given: Given, page: Page, found: Sequence[Alignment]) -> list[Alignment]:
    """The places that all fit about as well as the best one."""
    if not found or not _is_there(given, page, found[0]):
        return []
    return list(found[: _alike(given, page, found)])


def is_whole(given: Given, alignment: Alignment) -> bool:
    """Whether nothing differs but white space and look-alikes."""
    return all(cost < ESCAPED for cost in alignment.costs) and bool(given.lines)


def _alike(given: Given, page: Page, found: Sequence[Alignment]) -> int:
    return 1 + sum(_is_rival(given, page, found[0], other) for other in found[1:])


def _evidence(given: Given, page: Page, alignment: Alignment) -> _Evidence:
    same = slips = strange = weight = 0
    for index, cost in enumerate(alignment.costs):
        if cost >= STALE:
            strange += 1
        elif cost >= CUT:
            slips += 1
        elif given.telling[index] and alignment.places[index] is not None:
            same += 1
            weight += len(given.keys[index])
    taken = {place for place in alignment.places if place is not None}
    for start, end in alignment.elided.values():
        taken.update(range(start, end))
    extra = sum(1 for line in range(alignment.start, alignment.end) if line not in taken and page.keys[line])
    return _Evidence(same, slips, strange + extra, weight)


def _is_there(given: Given, page: Page, alignment: Alignment) -> bool:
    """Whether enough of the text is at the place, whatever other places there are."""
    evidence = _evidence(given, page, alignment)
    length = sum(map(len, given.keys))
    if length < _SHORTEST:
        return False
    if evidence.strange:
        return evidence.same >= 2 * evidence.strange and evidence.same > evidence.slips and evidence.weight >= 20
    if not evidence.slips:
        return True
    if evidence.same:
        return evidence.slips <= evidence.same + 1
    worst = max(alignment.costs)
    if worst <= CUT:
        return length >= _SHORTEST_WITH_A_SLIP
    return length >= _SHORTEST_WITH_A_SLIP and sum(alignment.costs) <= SLIP * evidence.slips + PER_CHARACTER * max(
        length // _SURE_CHARACTERS + 1, 1
    )


def _is_rival(given: Given, page: Page, best: Alignment, other: Alignment) -> bool:
    """Whether another place fits nearly as well as the best one: the more was overlooked there, the more it has to.

    One that fits no line better is a rival only if it is about as good; one that does may be the place that was meant,
    with a line that somebody has changed.
    """
    is_better_anywhere = any(mine > theirs for mine, theirs in zip(best.costs, other.costs, strict=True))
    evidence = _evidence(given, page, best)
    worst = max(best.costs)
    if evidence.strange or (worst >= CUT and is_better_anywhere):
        margin = _WIDE
    elif worst >= SLIP + 3 * PER_CHARACTER:
        margin = _CLEAR
    elif worst >= SLIP + 2 * PER_CHARACTER:
        margin = 3 * PER_CHARACTER
    else:
        margin = PER_CHARACTER if worst > CUT else _SLIGHT
    return other.total < best.total + margin
