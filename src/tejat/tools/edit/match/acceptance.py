"""Acceptance of alignments: complete enough, and clearly better than all others."""

from collections.abc import Sequence
from itertools import pairwise

from tejat.core.frozen import Frozen
from tejat.tools.edit import weights
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.search_block import SearchBlock


class _Evidence(Frozen):
    """Distinctive lines that match, match with a typo, or do not match (including extra lines of the file)."""

    same: int
    typos: int
    unmatched: int
    weight: int


def accept_alignments(
    block: SearchBlock, target: IndexedFile, found: Sequence[Alignment], expected: int | None
) -> list[Alignment]:
    """Select the alignments to edit, in the order of the file; none if that is uncertain."""
    if not found:
        return []
    count = expected if expected is not None else _count_tied(block, target, found)
    chosen = list(found[:count])
    if len(chosen) < count or not all(_is_sufficient(block, target, alignment) for alignment in chosen):
        return []
    if any(_is_rival(block, target, chosen[-1], other) for other in found[count:]):
        return []
    chosen.sort(key=lambda alignment: alignment.start)
    overlap = any(left.end > right.start for left, right in pairwise(chosen))
    return [] if overlap else chosen


def tied_alignments(block: SearchBlock, target: IndexedFile, found: Sequence[Alignment]) -> list[Alignment]:
    """List the alignments about as good as the best one."""
    if not found or not _is_sufficient(block, target, found[0]):
        return []
    return list(found[: _count_tied(block, target, found)])


def is_whitespace_match(block: SearchBlock, alignment: Alignment) -> bool:
    """Check that only white space and look-alike characters differ."""
    return all(match.is_exact for match in alignment.matches) and bool(block.lines)


def _count_tied(block: SearchBlock, target: IndexedFile, found: Sequence[Alignment]) -> int:
    return 1 + sum(_is_rival(block, target, found[0], other) for other in found[1:])


def _evidence(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> _Evidence:
    same = typos = unmatched = weight = 0
    for index, match in enumerate(alignment.matches):
        if not match.is_known:
            unmatched += 1
        elif match.kind >= MatchKind.CUT:
            typos += 1
        elif block.distinctive[index] and alignment.positions[index] is not None:
            same += 1
            weight += len(block.keys[index])
    taken = {place for place in alignment.positions if place is not None}
    for start, end in alignment.elided.values():
        taken.update(range(start, end))
    extra = sum(1 for line in range(alignment.start, alignment.end) if line not in taken and target.keys[line])
    return _Evidence(same, typos, unmatched + extra, weight)


def _is_sufficient(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> bool:
    """Check that enough of the block is there, regardless of other alignments."""
    evidence = _evidence(block, target, alignment)
    length = sum(map(len, block.keys))
    if length < weights.MIN_LENGTH:
        return False
    if evidence.unmatched:
        least = max(weights.MATCHES_PER_MISMATCH * evidence.unmatched, evidence.typos + 1)
        return evidence.same >= least and evidence.weight >= weights.MIN_MATCHED_CHARACTERS
    if not evidence.typos:
        return True
    if evidence.same:
        return evidence.typos <= evidence.same + 1
    if length < weights.MIN_LENGTH_WITH_TYPO:
        return False
    if all(match.kind <= MatchKind.CUT for match in alignment.matches):
        return True
    characters = length // weights.CHARACTERS_PER_TYPO + 1
    most = weights.TYPO_COST * evidence.typos + weights.CHARACTER_COST * characters
    return sum(match.cost for match in alignment.matches) <= most


def _is_rival(block: SearchBlock, target: IndexedFile, best: Alignment, other: Alignment) -> bool:
    """Check whether another alignment is nearly as good. The more differs, the wider the margin.

    An alignment that is better in no line rivals only if it is about equal. One that is better in some line may be the
    intended place with a line that has changed since.
    """
    is_better_anywhere = any(mine.cost > theirs.cost for mine, theirs in zip(best.matches, other.matches, strict=True))
    worst = max(best.matches, key=lambda match: match.cost)
    if _evidence(block, target, best).unmatched or (worst.kind >= MatchKind.CUT and is_better_anywhere):
        margin = weights.WIDE_MARGIN
    elif worst.kind > MatchKind.TYPO:
        margin = weights.CLEAR_MARGIN
    elif worst.cost > weights.TYPO_COST + weights.CHARACTER_COST:
        margin = weights.TYPO_MARGIN
    else:
        margin = weights.CHARACTER_MARGIN if worst.kind > MatchKind.CUT else weights.SLIGHT_MARGIN
    return other.total_cost < best.total_cost + margin
