"""The lines of a file that have most in common with a text that is nowhere near: they share words with it."""

from collections import Counter

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import normalize_line, split_words

_MAX_TEXT_LENGTH = 20_000
"""Characters of the text that is compared."""
_MAX_SEARCHED = 100
_MAX_WORDS = 8
_MAX_OCCURRENCES = 400
"""A word that stands more often in the file tells nothing."""
_MIN_WORD_BYTES = 3
_MAX_LINES = 12


def distinctive_words(text: str) -> list[str]:
    """The words by which a text is most likely to be known, the longest first."""
    # A word of Chinese or Japanese needs no third character to tell something; a sign that nobody sees tells nothing.
    words = {
        word
        for word in split_words(text[:_MAX_TEXT_LENGTH])
        if len(normalize_line(word).encode("utf-8", "replace")) >= _MIN_WORD_BYTES
    }
    return sorted(words, key=lambda word: (-len(word), word))


def find_related_lines(text: str, page: IndexedFile) -> tuple[int, int] | None:
    """From which line up to which one the file shares most words with the text; None if it shares none that tells."""
    weights: Counter[int] = Counter()
    found = 0
    for word in distinctive_words(text)[:_MAX_SEARCHED]:
        lines = set(page.find_lines_containing(normalize_line(word), limit=_MAX_OCCURRENCES))
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
    """The stretch of at most so many lines that weighs most, from the first that weighs anything to the last."""
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
