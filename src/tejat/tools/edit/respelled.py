"""Whether a repair could bring a text nearer to the file: judged by the lines alone that it changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.given import Given
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import Pairs
from tejat.tools.edit.places import lines_with_words

_NEAR = 2
_MOST_SOUGHT = 4


def effect_of(
    given: Given, repaired: Given, page: Page, found: Sequence[Alignment]
) -> Literal["none", "farther"] | None:
    """What the repair does to the text that was `found` at these places, the best first; None if it may fit better.

    With no effect, the repaired text fits there just as well, and elsewhere no better.
    """
    if not _is_alike(given, repaired):
        return None
    changed = [
        index for index, (line, other) in enumerate(zip(given.lines, repaired.lines, strict=True)) if line != other
    ]
    before, after = Pairs(given, page), Pairs(repaired, page)
    for index in changed:
        for at in _candidates(repaired, index, page, found):
            if after.cost(index, at) < before.cost(index, at):
                return None
    rises = [
        sum(
            after.cost(index, at) - before.cost(index, at)
            for index in changed
            if (at := each.places[index]) is not None
        )
        for each in found
    ]
    if not any(rises):
        return "none"
    least = min(each.total + rise for each, rise in zip(found, rises, strict=True))
    return "farther" if least > found[0].total else None


def _is_alike(given: Given, repaired: Given) -> bool:
    """Whether the lines are as many, and those that tell something or stand for others are the same ones."""
    return (
        given.telling == repaired.telling
        and given.elisions == repaired.elisions
        and [not key for key in given.keys] == [not key for key in repaired.keys]
    )


def _candidates(repaired: Given, index: int, page: Page, found: Sequence[Alignment]) -> Iterator[int]:
    """The lines of the file that a line could be: about where it was laid, and wherever its words are."""
    for each in found:
        at = each.places[index]
        if at is not None:
            yield from range(max(at - _NEAR, 0), min(at + _NEAR + 1, len(page.lines)))
        else:
            yield from range(each.start, each.end)
    weights = Counter(lines_with_words(repaired, index, page))
    yield from sorted(weights, key=lambda at: (-weights[at], at))[:_MOST_SOUGHT]
