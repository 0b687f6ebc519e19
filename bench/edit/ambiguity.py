"""Rules for dropping ambiguous drafts, whose meaning a careful reader could not tell from the arguments and the file.

Each rule is a function below:

1. Text that occurs exactly once is replaced literally. So a mutated draft whose old text occurs once is kept only
   if the literal replacement is the intended one.
2. Text that occurs several times identifies no place.
3. No other place may be similar: every other window of as many lines must differ from the old text, counted in
   tokens, more than twice as much as the intended place, and at least by one.
4. Equal given lines of which some are kept and others changed must be equal in the file too, else it is unknown
   which of them is kept.
5. Text that is gone from one place must not occur elsewhere, ignoring white space: it would be meant there.

What a mutation may do to changed, added and deleted lines is decided by the mutation.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from bench.edit.draft import Draft

_TOKEN = re.compile(r"\w+|[^\w\s]")


def literal_count(draft: Draft) -> int:
    return _text(draft.before()).count(_normalize_line_endings(draft.argument("old")))


def is_unambiguous(draft: Draft) -> bool:
    """Check that place and change are unambiguous."""
    count = literal_count(draft)
    if count > 1 or not leftovers_are_clear(draft):
        return False
    if count == 1:
        return literal_match_is_target(draft)
    return has_one_match(draft)


def literal_match_is_target(draft: Draft) -> bool:
    """Rule 1, for text that occurs once."""
    before, after = _text(draft.before()), _text(draft.after())
    return (
        before.replace(_normalize_line_endings(draft.argument("old")), _normalize_line_endings(draft.argument("new")))
        == after
    )


def has_one_match(draft: Draft) -> bool:
    """Rule 3. Blank lines do not count."""
    given = Counter(token for line in draft.lines("old") for token in tokens(line))
    place = [row.true_old for row in draft.rows if row.true_old is not None and row.old is not None]
    here = Counter(token for line in place for token in tokens(line))
    if not given or not here:
        return False
    away = bag_distance(given, here)
    first, size = len(draft.head), sum(row.true_old is not None for row in draft.rows)
    head = [line for line in draft.head if line.strip()]
    nonblank = sum(1 for line in draft.before()[first : first + size] if line.strip())
    lines = [line for line in draft.before() if line.strip()]
    return min_distance_elsewhere(lines, given, len(place), (len(head), len(head) + nonblank), most=2 * away) > 2 * away


def leftovers_are_clear(draft: Draft) -> bool:
    """Rule 4."""
    old_alike: dict[tuple[str, ...], set[tuple[bool, str | None]]] = {}
    new_alike: dict[tuple[str, ...], set[tuple[bool, str | None]]] = {}
    for row in draft.rows:
        if row.old is not None:
            old_alike.setdefault(tokens(row.old), set()).add((row.is_kept, row.true_old))
        if row.new is not None:
            new_alike.setdefault(tokens(row.new), set()).add((row.is_kept, row.true_new))
    return all(
        len({is_kept for is_kept, _ in alike}) == 1 or len({line for _, line in alike}) == 1
        for alike in (*old_alike.values(), *new_alike.values())
    )


def has_any_match(draft: Draft) -> bool:
    """Rule 5: check whether the tokens of the old text occur together anywhere in the file."""
    given = Counter(token for line in draft.lines("old") for token in tokens(line))
    size = sum(1 for line in draft.lines("old") if line.strip())
    lines = [line for line in draft.before() if line.strip()]
    return min_distance_elsewhere(lines, given, size, (0, 0), most=0) == 0


def min_distance_elsewhere(
    lines: Sequence[str], given: "Counter[str]", size: int, place: tuple[int, int], *, most: int
) -> int:
    """Minimal distance between `given` and a window outside of the place; `most + 1` if it is larger."""
    total = given.total()
    sums = [0]
    for line in lines:
        sums.append(sums[-1] + len(tokens(line)))
    nearest = most + 1
    sizes = {max(1, size - 1), size, size + 1}
    for start in range(len(lines)):
        for length in sizes:
            end = start + length
            if end > len(lines) or (start < place[1] and end > place[0] and _overlaps(start, end, place)):
                continue
            if abs(sums[end] - sums[start] - total) >= nearest:
                continue
            window = Counter(token for line in lines[start:end] for token in tokens(line))
            nearest = min(nearest, bag_distance(given, window))
    return nearest


def bag_distance(one: "Counter[str]", other: "Counter[str]") -> int:
    return (one - other).total() + (other - one).total()


@lru_cache(maxsize=200_000)
def tokens(line: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(line))


def _overlaps(start: int, end: int, place: tuple[int, int]) -> bool:
    """Check whether a window is the place shifted by a line or so."""
    shared = min(end, place[1]) - max(start, place[0])
    return 2 * shared > place[1] - place[0]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _normalize_line_endings(text: str) -> str:
    return text.replace("\r\n", "\n")
