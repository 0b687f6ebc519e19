"""Edits inside lines that are too long to be compared as a whole."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit import weights
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.line_comparer import is_similar
from tejat.tools.edit.match.related_lines import distinctive_words
from tejat.tools.edit.merge.tokens import TokenSequence
from tejat.tools.edit.merge.word_merge import merge_line
from tejat.tools.edit.request import EditRequest

_MAX_OLD_LENGTH = 2_000
_MIN_WORDS = 4
_MAX_SEARCHED = 4
_RUN_LENGTH = 3
_MAX_RUNS = 20
_MAX_OCCURRENCES = 50
"""A word with more occurrences identifies no place."""
_TYPO_DIVISOR = 6
"""One word in this many may have a typo."""
_SLACK = 200
_CLEAR_MARGIN = 2
"""Number of words by which all other places must differ more."""


def edit_long_line(request: EditRequest, target: IndexedFile) -> list[LineReplacement] | None:
    """Find the edit in a very long line; None if the place is uncertain."""
    old, new = request.old.strip(), request.new.strip()
    is_whole = request.old.replace(old, new, 1) == request.new if old and new else False
    if request.expected != 1 or not is_whole or "\n" in old or len(old) > _MAX_OLD_LENGTH:
        return None
    given = TokenSequence(old)
    most = len(given) // _TYPO_DIVISOR
    places = sorted({place for place in _find_matches(given, old, target) if place[0] <= most + _CLEAR_MARGIN})
    if len(given) < _MIN_WORDS or not places or places[0][0] > max(most, 1):
        return None
    differing, line, start, end = places[0]
    if len(places) > 1 and places[1][0] < differing + _CLEAR_MARGIN:
        return None
    text = target.lines[line]
    becomes = merge_line(old, text[start:end], new)
    if becomes is None or becomes == text[start:end]:
        return None
    return [LineReplacement(line, line + 1, tuple(f"{text[:start]}{becomes}{text[end:]}".split("\n")))]


def _find_matches(given: TokenSequence, old: str, target: IndexedFile) -> "Iterator[tuple[int, int, int, int]]":
    """Number of differing words, line, start and end for each occurrence of a rare word."""
    for line, text in enumerate(target.lines):
        if len(text) <= weights.MAX_COMPARED_LENGTH:
            continue
        for start, end in _search_ranges(given, old):
            for at in _find_occurrences(text, old[given.starts[start] : given.ends[end - 1]]):
                yield from _compare_at(given, start, line, text, at, 2 * len(old) + _SLACK)


def _search_ranges(given: TokenSequence, old: str) -> "Iterator[tuple[int, int]]":
    """Ranges of words to search for: the most distinctive words and short runs."""
    for word in distinctive_words(old)[:_MAX_SEARCHED]:
        yield from ((index, index + 1) for index, each in enumerate(given.words) if each == word)
    yield from ((index, index + _RUN_LENGTH) for index in range(min(len(given) - _RUN_LENGTH + 1, _MAX_RUNS)))


def _find_occurrences(text: str, word: str) -> list[int]:
    hits: list[int] = []
    at = text.find(word)
    while at >= 0:
        hits.append(at)
        if len(hits) > _MAX_OCCURRENCES:
            return []
        at = text.find(word, at + 1)
    return hits


def _compare_at(
    given: TokenSequence, start: int, line: int, text: str, at: int, reach: int
) -> "Iterator[tuple[int, int, int, int]]":
    low = max(at - reach, 0)
    found = TokenSequence(text[low : at + reach])
    if at - low not in found.starts:
        return
    first = found.starts.index(at - low) - start
    last = first + len(given)
    if first < 0 or last > len(found):
        return
    differing = _count_typos(given.keys, found.keys[first:last])
    if differing is not None:
        yield differing, line, low + found.starts[first], low + found.ends[last - 1]


def _count_typos(given: Sequence[str], found: Sequence[str]) -> int | None:
    """Count the words with typos; None if any word, number or sign is different."""
    pairs = [(left, right) for left, right in zip(given, found, strict=True) if left != right]
    is_typo = all(left.isalpha() and right.isalpha() and is_similar(left, right) for left, right in pairs)
    return len(pairs) if is_typo else None
