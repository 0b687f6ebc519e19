"""Pairs of similar lines in the old and the new text."""

from collections.abc import Sequence
from functools import lru_cache

from tejat.tools.edit.match.normalize import split_words
from tejat.tools.edit.weights import MIN_WORD_SIMILARITY

_MAX_PAIRS = 2_500


def pair_similar_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair old and new lines, in order, by the share of common words."""
    if not old or not new or len(old) * len(new) > _MAX_PAIRS:
        return []
    old_words, new_words = [_line_words(line) for line in old], [_line_words(line) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for left in range(len(old) - 1, -1, -1):
        words, row, below = old_words[left], best[left], best[left + 1]
        for right in range(len(new) - 1, -1, -1):
            unpaired = below[right] if below[right] > row[right + 1] else row[right + 1]
            row[right] = unpaired
            # Two lines are alike by 1 at most.
            if below[right + 1] + 1 > unpaired:
                alike = _word_similarity(words, new_words[right])
                if alike >= MIN_WORD_SIMILARITY and below[right + 1] + alike > unpaired:
                    row[right] = below[right + 1] + alike
    pairs: list[tuple[int, int]] = []
    left = right = 0
    while left < len(old) and right < len(new):
        if best[left][right] == best[left + 1][right]:
            left += 1
        elif best[left][right] == best[left][right + 1]:
            right += 1
        else:
            pairs.append((left, right))
            left, right = left + 1, right + 1
    return pairs


class _LineWords:
    """The words of a line and how often it has each."""

    __slots__ = ("counts", "total")

    def __init__(self, line: str) -> None:
        words = split_words(line)
        self.counts: dict[str, int] = {}
        for word in words:
            self.counts[word] = self.counts.get(word, 0) + 1
        self.total = len(words)


@lru_cache(maxsize=512)
def _line_words(line: str) -> _LineWords:
    """Cached, because the texts of all variants have most lines in common."""
    return _LineWords(line)


def _word_similarity(left: _LineWords, right: _LineWords) -> float:
    """Return the share of common words, 0 if it is certainly too low."""
    together = left.total + right.total
    if left is right:
        return 1.0 if together else 0.0
    if not together or 2 * min(left.total, right.total) < MIN_WORD_SIMILARITY * together:
        return 0.0
    others = right.counts
    common = sum([min(count, others[word]) for word, count in left.counts.items() if word in others])
    return 2 * common / together
