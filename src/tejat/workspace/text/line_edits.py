"""Line diff (Myers with anchors) within a fixed amount of work."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

from tejat.core.frozen import Frozen

DEFAULT_BUDGET = 300_000
"""Steps of about a third of a microsecond each: a tenth of a second for the worst pair of texts."""

_MAX_SLICE = 1 << 18
_MAX_EXHAUSTIVE_LINES = 256
"""Total lines up to which the long search always finds the shortest edits."""

_SHORT_SEARCH = 16_000
_LONG_SEARCH = 80_000
"""Steps for the shortest edits of one gap, before and after looking for anchors that cut it into smaller ones."""

_STEPS_PER_GAP = 8

Item = TypeVar("Item", bound=Hashable)

_Gap = tuple[int, int, int, int]
"""Start and end of the old and the new lines of an edit, in the order of DiffEdit's fields."""


class DiffEdit(Frozen):
    """Replace `old[old_start:old_end]` with `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def compute_line_edits(old: Sequence[Item], new: Sequence[Item], *, budget: int = DEFAULT_BUDGET) -> list[DiffEdit]:
    """Compute the edits from `old` to `new`: in order, not adjacent, not empty.

    They are minimal for small inputs and nearly so for large ones. When the budget is used up, the remaining parts are
    replaced whole: the result is still correct, only larger than necessary.
    """
    steps_left = _StepBudget(budget)
    changes: list[_Gap] = []
    # The gaps still to be looked at, the first one on top, so that changes come out in order.
    gaps = [(0, len(old), 0, len(new))]
    while gaps:
        gap = _trim_common(old, new, gaps.pop())
        size = gap[1] - gap[0] + gap[3] - gap[2]
        if size <= 2 or size > steps_left.steps or not steps_left.spend(_STEPS_PER_GAP):
            changes.append(gap)
            continue
        old_lines, new_lines = old[gap[0] : gap[1]], new[gap[2] : gap[3]]
        if set(old_lines).isdisjoint(new_lines):
            changes.append(gap)
            continue
        allowed = _LONG_SEARCH if size <= _MAX_EXHAUSTIVE_LINES else _SHORT_SEARCH
        found = _myers(old_lines, new_lines, steps_left, allowed)
        if found is None and (anchors := _find_anchors(old_lines, new_lines, steps_left)):
            gaps.extend(_gaps_between(anchors, gap))
            continue
        whole = (0, len(old_lines), 0, len(new_lines))
        found = found or _myers(old_lines, new_lines, steps_left, _LONG_SEARCH) or [whole]
        changes.extend((gap[0] + left, gap[0] + right, gap[2] + up, gap[2] + down) for left, right, up, down in found)
    return list(_merge_adjacent(changes))


def common_prefix(
    old: Sequence[object], new: Sequence[object], *, old_start: int = 0, new_start: int = 0, limit: int
) -> int:
    """Return the number of equal items from `old_start` and `new_start` on, at most `limit`."""
    length = min(limit, len(old) - old_start, len(new) - new_start)
    return _common_prefix_length(old, new, old_start, new_start, length)


def common_suffix(old: Sequence[object], new: Sequence[object], *, limit: int) -> int:
    """Return the number of equal items at the ends, at most `limit`."""
    return _common_suffix_length(old, new, len(old), len(new), min(limit, len(old), len(new)))


class _StepBudget:
    """The remaining steps."""

    __slots__ = ("steps",)

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> bool:
        """Take the steps; False if not enough are left."""
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


def _trim_common(old: Sequence[Item], new: Sequence[Item], gap: _Gap) -> _Gap:
    old_start, old_end, new_start, new_end = gap
    length = min(old_end - old_start, new_end - new_start)
    front = _common_prefix_length(old, new, old_start, new_start, length)
    back = _common_suffix_length(old, new, old_end, new_end, length - front)
    return old_start + front, old_end - back, new_start + front, new_end - back


def _common_prefix_length(old: Sequence[object], new: Sequence[object], old_at: int, new_at: int, length: int) -> int:
    if length <= 0 or old[old_at] != new[new_at]:
        return 0
    return _gallop(length, lambda low, high: old[old_at + low : old_at + high] == new[new_at + low : new_at + high])


def _common_suffix_length(old: Sequence[object], new: Sequence[object], old_to: int, new_to: int, length: int) -> int:
    if length <= 0 or old[old_to - 1] != new[new_to - 1]:
        return 0
    return _gallop(length, lambda low, high: old[old_to - high : old_to - low] == new[new_to - high : new_to - low])


def _gallop(length: int, are_equal: Callable[[int, int], bool]) -> int:
    """Return the number of common items, at most `length`. The first is; `are_equal` compares those from low to high.

    Slices are compared at the speed of C. They double while they are equal and halve once they are not. A slice is a
    copy, so that one beyond the cache of a core would cost more than it saves.
    """
    common, size, growing = 1, 1, True
    while size and common < length:
        size = min(size, length - common)
        if are_equal(common, common + size):
            common += size
        else:
            growing = False
        # Half is rounded up so that the halves cover the rest; 0 after 1.
        size = min(size * 2, _MAX_SLICE) if growing else (size + 1) // 2 if size > 1 else 0
    return common


def _find_anchors(old: Sequence[Item], new: Sequence[Item], steps_left: _StepBudget) -> list[tuple[int, int]]:
    """Find pairs of equal lines, in order on both sides, among the lines that are unique on both.

    Empty if there are none or the steps have run out.
    """
    size = len(old) + len(new)
    if not steps_left.spend(size + size // 3):  # a line counted and paired costs more than a step of the search
        return []
    old_counts, new_counts = Counter(old), Counter(new)
    common = old_counts.keys() & new_counts.keys()
    unique = {line for line in common if old_counts[line] == 1 == new_counts[line]}
    if unique:
        places = dict(zip(new, range(len(new)), strict=True))
        return _longest_increasing([(place, places[line]) for place, line in enumerate(old) if line in unique])
    # Where no line stands alone, those that are as frequent on both sides are paired by their turn, first with first.
    turns: dict[Item, list[int]] = {line: [] for line in common if old_counts[line] == new_counts[line]}
    for place in range(len(new) - 1, -1, -1):
        if new[place] in turns:
            turns[new[place]].append(place)
    return _longest_increasing([(place, turns[line].pop()) for place, line in enumerate(old) if line in turns])


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs with increasing right sides; the left sides increase already."""
    ends: list[int] = []
    end_indexes: list[int] = []
    before: list[int] = []
    for index, (_, right) in enumerate(pairs):
        rank = bisect_left(ends, right)
        before.append(end_indexes[rank - 1] if rank else -1)
        ends[rank : rank + 1] = (right,)
        end_indexes[rank : rank + 1] = (index,)
    chosen: list[tuple[int, int]] = []
    index = end_indexes[-1] if end_indexes else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _gaps_between(anchors: list[tuple[int, int]], gap: _Gap) -> list[_Gap]:
    """Return the gaps between the anchors, last one first."""
    old_start, old_end, new_start, new_end = gap
    gaps: list[_Gap] = []
    old_at, new_at = old_start, new_start
    for left, right in anchors:
        old_anchor, new_anchor = old_start + left, new_start + right
        if old_anchor > old_at or new_anchor > new_at:
            gaps.append((old_at, old_anchor, new_at, new_anchor))
        old_at, new_at = old_anchor + 1, new_anchor + 1
    gaps.append((old_at, old_end, new_at, new_end))
    return gaps[::-1]


def _myers(old: Sequence[Item], new: Sequence[Item], steps_left: _StepBudget, allowed: int) -> list[_Gap] | None:
    """Find the fewest removed and added lines, None if not found within the allowed steps.

    Myers' algorithm: how far down the old lines does each diagonal reach with 0, 1, 2... changes?
    """
    old_size, new_size = len(old), len(new)
    allowed = min(allowed, steps_left.steps)
    if min(old_size, new_size) > allowed:
        return None
    left_over = allowed
    # The furthest old line on each diagonal; -1 where no path has come yet, with one such place beyond either border.
    origin = new_size + 1
    reach = [-1] * (old_size + new_size + 3)
    reach[origin + 1] = 0
    trail: list[tuple[int, list[int]]] = []
    for changes in range(old_size + new_size + 1):
        # Diagonals outside the rectangle of both texts lead nowhere.
        lowest = -changes + 2 * max(0, changes - new_size)
        highest = changes - 2 * max(0, changes - old_size)
        for place in range(origin + lowest, origin + highest + 1, 2):
            adding, removing = reach[place + 1], reach[place - 1]
            left = adding if adding > removing else removing + 1
            right = left + origin - place
            start = left
            while left < old_size and right < new_size and old[left] == new[right]:
                left += 1
                right += 1
            reach[place] = left
            left_over -= 1 + left - start
            if left == old_size and right == new_size:
                steps_left.spend(min(allowed - left_over, steps_left.steps))
                return _backtrack(trail, left, right)
            if left_over < 0:
                steps_left.spend(allowed)
                return None
        trail.append((lowest, reach[origin + lowest : origin + highest + 1 : 2]))
    return None


def _backtrack(trail: list[tuple[int, list[int]]], left: int, right: int) -> list[_Gap]:
    """Return the changes on the way back from the end, one line each, in text order."""
    steps: list[_Gap] = []
    for lowest, reach in reversed(trail):
        diagonal = left - right
        index = (diagonal - 1 - lowest) // 2
        removing = reach[index] if index >= 0 else -1
        adding = reach[index + 1] if index + 1 < len(reach) else -1
        if adding > removing:
            left, right = adding, adding - diagonal - 1
            steps.append((left, left, right, right + 1))
        else:
            left, right = removing, removing - diagonal + 1
            steps.append((left, left + 1, right, right))
    return steps[::-1]


def _merge_adjacent(changes: list[_Gap]) -> Iterator[DiffEdit]:
    """Drop empty changes and merge adjacent ones."""
    old_start = old_end = new_start = new_end = 0
    for change in (*changes, None):
        if change and change[0] == old_end and change[2] == new_end:
            _, old_end, _, new_end = change
            continue
        if old_start < old_end or new_start < new_end:
            yield DiffEdit(old_start, old_end, new_start, new_end)
        if change:
            old_start, old_end, new_start, new_end = change
