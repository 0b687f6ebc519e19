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
    old_words, new_words = [Counter(split_words(line)) for line in old], [Counter(split_words(line)) for line in new]
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


def _word_similarity(left: "Counter[str]", right: "Counter[str]") -> float:
    together = left.total() + right.total()
    return 2 * (left & right).total() / together if together else 0.0
