"""Where in a file the given lines could stand: looks for a few telling lines or words, and compares closely only there."""

from collections import Counter
from collections.abc import Iterator

from tejat.tools.edit.alignment import Alignment, align
from tejat.tools.edit.folding import words_of
from tejat.tools.edit.given import Given
from tejat.tools.edit.page import Page

_HEAVIEST = 30
"""What a line weighs at most, in characters: of two long lines, one is no better a sign than the other."""
_MOST_HITS = 20_000
_MOST_STARTS = 8
_ENOUGH = 0.5
"""A place where less than this part of the best weight is found is not looked at."""
_MOST_LINES_SOUGHT = 6
_MOST_WORDS_SOUGHT = 4
_MOST_OCCURRENCES = 400
_SHORTEST_WORD = 3


def places(given: Given, page: Page, *, most: int = _MOST_STARTS) -> list[Alignment]:
    """The places that fit, the best first. They share no line."""
    slack = 4 + min(len(given.lines) // 2, 10) if len(given.lines) > 1 else 0
    found: list[Alignment] = []
    weights = _by_lines(given, page)
    for start in _starts(weights, slack, most):
        _add(found, align(given, page, start, slack))
    if not found or not _is_whole(given, found[0]):
        for start in _starts(_by_words(given, page), slack, most):
            _add(found, align(given, page, start, slack))
    found.sort(key=lambda alignment: alignment.total)
    return found


def _add(found: list[Alignment], more: list[Alignment]) -> None:
    for alignment in more:
        rival = next((other for other in found if other.shares_a_line(alignment)), None)
        if rival is None:
            found.append(alignment)
        elif alignment.total < rival.total:
            found[found.index(rival)] = alignment
    found.sort(key=lambda alignment: alignment.total)


def _is_whole(given: Given, alignment: Alignment) -> bool:
    """Whether all lines that tell anything were found as they are, so that no better place can be found by words."""
    return all(not telling or cost < _SLIGHT for telling, cost in zip(given.telling, alignment.costs, strict=True))


_SLIGHT = 10


def _by_lines(given: Given, page: Page) -> "Counter[int]":
    """For each line of the file how much speaks for the given text beginning there: telling lines that are the same."""
    wanted: dict[str, list[int]] = {}
    for index, (key, telling) in enumerate(zip(given.keys, given.telling, strict=True)):
        if telling:
            wanted.setdefault(key, []).append(index)
    if not wanted:
        for index, key in enumerate(given.keys):
            if key:
                wanted.setdefault(key, []).append(index)
    hits = [(at, key) for at, key in enumerate(page.keys) if key in wanted]
    if len(hits) > _MOST_HITS:
        frequent = Counter(key for _, key in hits)
        rare = {key for key, count in frequent.items() if count <= _MOST_HITS // len(wanted)}
        hits = [(at, key) for at, key in hits if key in rare]
    weights: Counter[int] = Counter()
    for at, key in hits:
        for index in wanted[key]:
            weights[at - index] += min(len(key), _HEAVIEST)
    return weights


def _by_words(given: Given, page: Page) -> "Counter[int]":
    """The same by the longest words of the longest lines, for lines that are not quite the same."""
    longest = sorted((i for i, telling in enumerate(given.telling) if telling), key=lambda i: -len(given.keys[i]))
    weights: Counter[int] = Counter()
    for index in longest[:_MOST_LINES_SOUGHT]:
        parts = {part for part in _parts(given, index) if len(part) >= _SHORTEST_WORD}
        seen: Counter[int] = Counter()
        for part in sorted(parts, key=lambda part: (-len(part), part))[:_MOST_WORDS_SOUGHT]:
            for offset in _occurrences(page.key_text, part):
                at = page.line_of_key(offset)
                seen[at] = max(seen[at], 0) + len(part)
        for at, weight in seen.items():
            weights[at - index] += min(weight, _HEAVIEST)
    return weights


def _parts(given: Given, index: int) -> Iterator[str]:
    key = given.keys[index]
    yield key
    half = len(key) // 2
    if half >= 2 * _SHORTEST_WORD:
        yield key[:half]
        yield key[half:]
    for word in words_of(given.lines[index]):
        yield word


def _occurrences(text: str, part: str) -> list[int]:
    """Where it stands; nowhere if it stands nearly everywhere."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        if len(found) > _MOST_OCCURRENCES:
            return []
        at = text.find(part, at + 1)
    return found


def _starts(weights: "Counter[int]", slack: int, most: int) -> list[int]:
    """The beginnings that most speaks for, more than `slack` lines from each other."""
    if not weights:
        return []
    together = _summed(weights, slack // 2)
    ranked = sorted(weights, key=lambda start: (-together[start] - weights[start], start))
    least = max(together.values()) * _ENOUGH
    chosen: list[int] = []
    taken: set[int] = set()
    for start in ranked:
        if len(chosen) == most:
            break
        if together[start] < least:
            continue
        if start // (slack + 1) in taken and any(abs(start - other) <= slack for other in chosen):
            continue
        chosen.append(start)
        near = start // (slack + 1)
        taken.update((near - 1, near, near + 1))
    return chosen


def _summed(weights: "Counter[int]", reach: int) -> dict[int, int]:
    """The weight of each beginning and of those next to it, which lines too many or too few have shifted."""
    ordered = sorted(weights)
    sums: dict[int, int] = {}
    low = high = total = 0
    for start in ordered:
        while high < len(ordered) and ordered[high] <= start + reach:
            total += weights[ordered[high]]
            high += 1
        while ordered[low] < start - reach:
            total -= weights[ordered[low]]
            low += 1
        sums[start] = total
    return sums
