"""Lines of a file that share words with a text that was not found."""

from collections import Counter

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import line_key, split_words

_MAX_TEXT_LENGTH = 20_000
"""Limit for the part of the text that is used."""
_MAX_SEARCHED = 100
_MAX_WORDS = 8
_MAX_OCCURRENCES = 400
"""More frequent words identify nothing."""
_MIN_WORD_BYTES = 3
_MAX_LINES = 12


def distinctive_words(text: str) -> list[str]:
    """Words that most likely identify a text, longest first."""
    # By bytes: two Chinese or Japanese characters are enough, an invisible one is not.
    words = {
        word
        for word in split_words(text[:_MAX_TEXT_LENGTH])
        if len(line_key(word).encode("utf-8", "replace")) >= _MIN_WORD_BYTES
    }
    return sorted(words, key=lambda word: (-len(word), word))


def find_related_lines(text: str, target: IndexedFile) -> tuple[int, int] | None:
    """Find the range of lines that shares most words with the text; None if there are none."""
    weights: Counter[int] = Counter()
    found = 0
    for word in distinctive_words(text)[:_MAX_SEARCHED]:
        lines = set(target.find_lines_containing(line_key(word), limit=_MAX_OCCURRENCES))
        if lines:
            found += 1
            for line in lines:
                weights[line] += len(word)
        if found == _MAX_WORDS:
            break
    if not weights:
        return None
    size = min(text.strip().count("\n") + 1, _MAX_LINES)
    return _heaviest_window(weights, size)


def _heaviest_window(weights: "Counter[int]", size: int) -> tuple[int, int]:
    """Find the heaviest range of at most `size` lines."""
    ordered = sorted(weights)
    best, most = (ordered[0], ordered[0] + 1), 0
    low = total = 0
    for line in ordered:
        total += weights[line]
        while ordered[low] <= line - size:
            total -= weights[ordered[low]]
            low += 1
        if total > most:
            best, most = (ordered[low], line + 1), total
    return best
