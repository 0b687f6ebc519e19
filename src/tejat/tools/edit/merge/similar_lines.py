"""Pairs of similar lines in the old and the new text."""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.match.normalize import split_words
from tejat.tools.edit.weights import MIN_WORD_SIMILARITY

_MAX_PAIRS = 2_500


def pair_similar_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair old and new lines, in order, by the share of common words."""
    if not old or not new or len(old) * len(new) > _MAX_PAIRS:
        return []
    old_words, new_words = [_LineWords(line) for line in old], [_LineWords(line) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for left in range(len(old) - 1, -1, -1):
        for right in range(len(new) - 1, -1, -1):
            alike = _word_similarity(old_words[left], new_words[right])
            paired = best[left + 1][right + 1] + alike if alike >= MIN_WORD_SIMILARITY else 0.0
            best[left][right] = max(paired, best[left + 1][right], best[left][right + 1])
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
        self.counts = Counter(words)
        self.total = len(words)


def _word_similarity(left: _LineWords, right: _LineWords) -> float:
    """Return the share of common words, 0 if it is certainly too low."""
    together = left.total + right.total
    if not together or 2 * min(left.total, right.total) < MIN_WORD_SIMILARITY * together:
        return 0.0
    others = right.counts
    common = sum([min(count, others[word]) for word, count in left.counts.items() if word in others])
    return 2 * common / together
