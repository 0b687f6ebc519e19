"""Estimate of the effect of a repair, from the lines that it changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.candidates import find_lines_with_words
from tejat.tools.edit.match.cost_matrix import CostMatrix
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.search_block import SearchBlock

_NEARBY_LINES = 2
_MAX_CANDIDATES = 4


def estimate_effect(
    block: SearchBlock, repaired: SearchBlock, target: IndexedFile, found: Sequence[Alignment]
) -> Literal["none", "farther"] | None:
    """Estimate how a repair affects the given alignments; None if it may improve them.

    Without an effect, the repaired text matches equally well there and no better elsewhere.
    """
    shape, repaired_shape = ((each.distinctive, each.elisions, [*map(bool, each.keys)]) for each in (block, repaired))
    if shape != repaired_shape:
        return None
    changed = [index for index, line in enumerate(block.lines) if line != repaired.lines[index]]
    before, after = CostMatrix(block, target), CostMatrix(repaired, target)
    for index in changed:
        for at in _candidate_lines(repaired, index, target, found):
            if after.match(index, at).cost < before.match(index, at).cost:
                return None
    rises = [
        sum(
            after.match(index, at).cost - before.match(index, at).cost
            for index in changed
            if (at := each.positions[index]) is not None
        )
        for each in found
    ]
    if not any(rises):
        return "none"
    least = min(each.total_cost + rise for each, rise in zip(found, rises, strict=True))
    return "farther" if least > found[0].total_cost else None


def _candidate_lines(
    repaired: SearchBlock, index: int, target: IndexedFile, found: Sequence[Alignment]
) -> Iterator[int]:
    """Lines of the file that a line may match: around its positions, and those with its words."""
    for each in found:
        at = each.positions[index]
        if at is not None:
            yield from range(max(at - _NEARBY_LINES, 0), min(at + _NEARBY_LINES + 1, len(target.lines)))
        else:
            yield from range(each.start, each.end)
    weights = Counter(find_lines_with_words(repaired, index, target))
    yield from sorted(weights, key=lambda at: (-weights[at], at))[:_MAX_CANDIDATES]
