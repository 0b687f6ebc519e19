"""Finds text amid a line that is too long to be compared as a whole, with a slip or other white space."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.folding import digits_of
from tejat.tools.edit.likeness import LONGEST, is_near
from tejat.tools.edit.nearest import telling_words
from tejat.tools.edit.page import LineEdit, Page
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.tokens import Tokens
from tejat.tools.edit.word_merge import merged_line

_MOST_GIVEN = 2_000
_FEWEST_WORDS = 4
_MOST_SOUGHT = 4
_IN_A_ROW = 3
_MOST_ROWS = 20
_MOST_HITS = 50
"""A word that stands more often in the line tells no place."""
_ONE_IN = 6
"""One word in so many may have a slip."""
_SLACK = 200
_CLEAR = 2
"""How many more words have to differ at any other place."""


def amid_a_long_line(request: EditRequest, page: Page) -> list[LineEdit] | None:
    """The edit at the one place in a very long line that the text fits; None if that is not certain."""
    old, new = request.old.strip(), request.new.strip()
    is_whole = request.old.replace(old, new, 1) == request.new if old and new else False
    if request.expected != 1 or not is_whole or "\n" in old or len(old) > _MOST_GIVEN:
        return None
    given = Tokens(old)
    places = sorted({place for place in _places(given, old, page) if place[0] <= len(given) // _ONE_IN + _CLEAR})
    if len(given) < _FEWEST_WORDS or not places or places[0][0] > max(len(given) // _ONE_IN, 1):
        return None
    differing, line, start, end = places[0]
    if len(places) > 1 and places[1][0] < differing + _CLEAR:
        return None
    text = page.lines[line]
    becomes = merged_line(old, text[start:end], new)
    if becomes is None or becomes == text[start:end]:
        return None
    return [LineEdit(line, line + 1, tuple(f"{text[:start]}{becomes}{text[end:]}".split("\n")))]


def _places(given: Tokens, old: str, page: Page) -> "Iterator[tuple[int, int, int, int]]":
    """How many words differ, in which line, from where to where: at each place where a rare word stands."""
    for line, text in enumerate(page.lines):
        if len(text) <= LONGEST:
            continue
        for start, end in _sought(given, old):
            for at in _hits(text, old[given.starts[start] : given.ends[end - 1]]):
                yield from _fits(given, start, line, text, at, 2 * len(old) + _SLACK)


def _sought(given: Tokens, old: str) -> "Iterator[tuple[int, int]]":
    """From which word up to which one a part of the text is sought: those that tell most, and a few in a row."""
    for word in telling_words(old)[:_MOST_SOUGHT]:
        yield from ((index, index + 1) for index, each in enumerate(given.words) if each == word)
    yield from ((index, index + _IN_A_ROW) for index in range(min(len(given) - _IN_A_ROW + 1, _MOST_ROWS)))


def _hits(text: str, word: str) -> list[int]:
    hits: list[int] = []
    at = text.find(word)
    while at >= 0:
        hits.append(at)
        if len(hits) > _MOST_HITS:
            return []
        at = text.find(word, at + 1)
    return hits


def _fits(
    given: Tokens, start: int, line: int, text: str, at: int, reach: int
) -> "Iterator[tuple[int, int, int, int]]":
    low = max(at - reach, 0)
    found = Tokens(text[low : at + reach])
    if at - low not in found.starts:
        return
    first = found.starts.index(at - low) - start
    last = first + len(given)
    if first < 0 or last > len(found):
        return
    differing = _differing(given.keys, found.keys[first:last])
    if differing is not None:
        yield differing, line, low + found.starts[first], low + found.ends[last - 1]


def _differing(given: Sequence[str], found: Sequence[str]) -> int | None:
    """How many words have a slip; None if any is another one, or a number or a sign differs."""
    pairs = [(left, right) for left, right in zip(given, found, strict=True) if left != right]
    for left, right in pairs:
        if digits_of(left) or digits_of(right) or not left.isalpha() or not right.isalpha() or not is_near(left, right):
            return None
    return len(pairs)
