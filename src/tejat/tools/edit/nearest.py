"""The lines of a file that have most in common with a text that is nowhere near: they share words with it."""

from collections import Counter

from tejat.tools.edit.folding import key_of, words_of
from tejat.tools.edit.page import Page

_MOST_READ = 20_000
"""Characters of the text that is compared."""
_MOST_SOUGHT = 100
_MOST_WORDS = 8
_MOST_OCCURRENCES = 400
"""A word that stands more often in the file tells nothing."""
_SHORTEST = 3
_MOST_LINES = 12


def telling_words(text: str) -> list[str]:
    """The words by which a text is most likely to be known, the longest first."""
    # A word of Chinese or Japanese needs no third character to tell something; a sign that nobody sees tells nothing.
    words = {word for word in words_of(text[:_MOST_READ]) if len(key_of(word).encode("utf-8", "replace")) >= _SHORTEST}
    return sorted(words, key=lambda word: (-len(word), word))


def lines_in_common(text: str, page: Page) -> tuple[int, int] | None:
    """From which line up to which one the file shares most words with the text; None if it shares none that tells."""
    weights: Counter[int] = Counter()
    found = 0
    for word in telling_words(text)[:_MOST_SOUGHT]:
        lines = set(page.lines_with(key_of(word), most=_MOST_OCCURRENCES))
        if lines:
            found += 1
            for line in lines:
                weights[line] += len(word)
        if found == _MOST_WORDS:
            break
    if not weights:
        return None
    size = min(text.strip().count("\n") + 1, _MOST_LINES)
    return _heaviest(weights, size)


def _heaviest(weights: "Counter[int]", size: int) -> tuple[int, int]:
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
