"""Comparison of a line of the search block with lines of the file."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from operator import add

from tejat.tools.edit import weights
from tejat.tools.edit.comments import is_reworded_comment, split_comment
from tejat.tools.edit.match.antonyms import are_antonyms
from tejat.tools.edit.match.levenshtein import levenshtein_distance, prefix_distance
from tejat.tools.edit.match.line_match import SAME, Match, MatchKind
from tejat.tools.edit.match.normalize import find_defined_names, find_numbers, line_key, split_words, strip_escapes
from tejat.tools.edit.weights import MAX_COMPARED_LENGTH, MAX_TYPO_CHARACTERS, TYPO_DIVISOR
from tejat.workspace.text.line_edits import common_prefix, common_suffix

_MIN_TYPO_LENGTH = 5
_MIN_CUT_LENGTH = 3
_MAX_TYPO_BIGRAMS = max(2 * MAX_TYPO_CHARACTERS, 3)
"""Bigrams that a typo changes: a character is part of two, and two swapped ones are part of three."""
_MIN_WORDS = 3
_ESCAPED = Match(MatchKind.ESCAPED, weights.ESCAPED_COST)
_CUT = Match(MatchKind.CUT, weights.CUT_COST)
_ELIDED_END = Match(MatchKind.ELIDED_END, weights.ELIDED_END_COST)
_WORD = Match(MatchKind.WORD, weights.WORD_COST)
_REWORDED = Match(MatchKind.REWORDED, weights.REWORDED_COST)


class LineComparer:
    """Comparison of one given line with the lines of a file. `cache` has the results so far."""

    def __init__(self, line: str, key: str, *, is_first: bool = False, is_last: bool = False) -> None:
        """`is_first` and `is_last` allow the given line to be cut at its start or end."""
        self._line, self._key = line, key
        self._is_first, self._is_last = is_first, is_last
        self._is_escaped = has_escapes(key)
        self._unescaped = strip_escapes(key) if self._is_escaped else key
        self._is_ascii = line.isascii()
        self._ends_with_dots = key.endswith("...")
        self._bigrams = _bigrams(key)
        self._comment = split_comment(line)
        self.cache: dict[str, Match] = {}

    @cached_property
    def key_length_range(self) -> tuple[int, int]:
        """Minimal and maximal key length of plain lines that may match."""
        size = len(self._key)
        may_be_cut = self._is_first or self._is_last or self._ends_with_dots
        is_sure = not may_be_cut and self._comment is None and is_plain(self._line, self._key)
        # A different word is at most as long as all other words together.
        return ((size + 1) // 2, 2 * size) if is_sure else (0, max(size, MAX_COMPARED_LENGTH))

    def compare(self, found: str, found_key: str) -> Match | None:
        """Compare with a line of the file; None if they do not match."""
        key = self._key
        if key == found_key:
            return _compare_whitespace(self._line, found)
        if (self._is_escaped or has_escapes(found_key)) and strip_escapes(found_key) == self._unescaped:
            return _ESCAPED
        if not key or not found_key or len(key) > MAX_COMPARED_LENGTH or len(found_key) > MAX_COMPARED_LENGTH:
            return None
        match = self._compare_with_typo(found, found_key) if self._may_be_similar(found, found_key) else None
        comment = self._comment
        if comment is not None and comment.mark in found and (match is None or match.kind is MatchKind.WORD):
            match = _REWORDED if is_reworded_comment(comment, split_comment(found)) else match
        if self._ends_with_dots:
            match = _cheaper(match, _ELIDED_END if self.is_elided(found_key) else None)
        if self._is_first or self._is_last:
            match = _cheaper(match, self._compare_cut(found_key))
        return match

    def is_elided(self, found_key: str) -> bool:
        """Check for a line whose end is elided, such as `# a long comment that...`."""
        start = self._prefix_before_dots
        return bool(start) and found_key.startswith(start)

    @cached_property
    def _prefix_before_dots(self) -> str:
        """Key before the final dots, empty if it is too short to identify a line."""
        start = line_key(self._line.rstrip().rstrip(".…"))
        return start if len(start) >= _MIN_TYPO_LENGTH else ""

    def _may_be_similar(self, found: str, found_key: str) -> bool:
        """Reject most lines cheaply."""
        key = self._key
        # With more than one different word, only a few characters may differ.
        is_far = abs(len(key) - len(found_key)) > max(len(key), len(found_key), TYPO_DIVISOR) // TYPO_DIVISOR
        if is_far and self._differs_at_both_ends(found, found_key):
            return False
        # Similar texts share most of their bigrams.
        left, right = self._bigrams, _bigrams(found_key)
        most = len(left) if len(left) > len(right) else len(right)
        return 5 * len(left) >= 2 * most <= 5 * len(right) and 5 * len(left & right) >= 2 * most

    def may_be_typo(self, found_key: str) -> bool:
        """Check cheaply whether the lines may differ by the few characters of a typo."""
        if abs(len(self._key) - len(found_key)) > MAX_TYPO_CHARACTERS:
            return False
        left, right = self._bigrams, _bigrams(found_key)
        return len(left - right) <= _MAX_TYPO_BIGRAMS and len(right - left) <= _MAX_TYPO_BIGRAMS

    def _compare_with_typo(self, found: str, found_key: str) -> Match | None:
        """Compare as a line with a typo or one different word."""
        key = self._key
        if min(len(key), len(found_key)) < _MIN_TYPO_LENGTH:
            return None
        most = max(len(key) // TYPO_DIVISOR, len(found_key) // TYPO_DIVISOR, 1)
        few = min(most, MAX_TYPO_CHARACTERS)
        found_bigrams = _bigrams(found_key)
        differing = max(len(self._bigrams - found_bigrams), len(found_bigrams - self._bigrams))
        may_differ_by_word = self._may_differ_by_one_word(found, found_key)
        if not may_differ_by_word and differing > max(2 * most, 3):
            return None
        if self._numbers != find_numbers(found_key):
            return None
        if differing <= max(2 * few, 3) and (characters := _bounded_distance(key, found_key, few)) <= few:
            return Match(MatchKind.TYPO, weights.TYPO_COST + weights.CHARACTER_COST * characters)
        if self._defined_names != find_defined_names(found):
            return None
        if may_differ_by_word and _differs_by_one_word(self._words, split_words(found)):
            return _WORD
        may_be_near = abs(len(key) - len(found_key)) <= most and differing <= 2 * most
        return _WORD if may_be_near and _bounded_distance(key, found_key, most) <= most else None

    @cached_property
    def _numbers(self) -> list[str]:
        return find_numbers(self._key)

    @cached_property
    def _defined_names(self) -> list[str]:
        return find_defined_names(self._line)

    @cached_property
    def _words(self) -> list[str]:
        return split_words(self._line)

    def _may_differ_by_one_word(self, found: str, found_key: str) -> bool:
        """Reject lines cheaply that have less than half in common at both ends together."""
        key = self._key
        if not self._is_ascii or not found.isascii():
            return True
        quarter = (max(len(key), len(found_key)) + 3) // 4
        is_part_common = key[:quarter] == found_key[:quarter] or key[-quarter:] == found_key[-quarter:]
        return is_part_common and not self._differs_at_both_ends(found, found_key)

    def _compare_cut(self, found_key: str) -> Match | None:
        """Compare as a line that lacks its start or end."""
        key, is_first = self._key, self._is_first
        if len(key) >= len(found_key):
            return None
        if is_first and self._is_last:
            return _CUT if len(key) >= _MIN_CUT_LENGTH and found_key.count(key) == 1 else None
        if found_key.endswith(key) if is_first else found_key.startswith(key):
            return _CUT
        begins_alike = key[-3:] == found_key[-3:] if is_first else key[:3] == found_key[:3]
        most = len(key) // (2 * TYPO_DIVISOR)
        # A character is part of two bigrams.
        if len(key) < 2 * _MIN_TYPO_LENGTH or not begins_alike or len(self._bigrams - _bigrams(found_key)) > 2 * most:
            return None
        return (
            _compare_cut_with_typo(key[::-1], found_key[::-1]) if is_first else _compare_cut_with_typo(key, found_key)
        )

    def _differs_at_both_ends(self, found: str, found_key: str) -> bool:
        """Check that both the first and the last characters differ, unlike in lines with one different word."""
        key = self._key
        return key[0] != found_key[0] and key[-1] != found_key[-1] and self._is_ascii and found.isascii()


def _cheaper(one: Match | None, other: Match | None) -> Match | None:
    return other if one is None or (other is not None and other.cost < one.cost) else one


def is_plain(line: str, key: str) -> bool:
    """Check that no character of a line has other, shorter or longer spellings."""
    return "\\" not in key and "&" not in key and line.isascii()


def has_escapes(key: str) -> bool:
    """Check for backslashes and ampersands, which may be escapes or entities."""
    return "\\" in key or "&" in key


def _compare_whitespace(given: str, found: str) -> Match:
    """Add up the kinds of white space differences, so that the place with fewer of them wins."""
    left, right = given.strip(), found.strip()
    if given == found or not left:
        return SAME
    has_same_indent = given[: len(given) - len(given.lstrip())] == found[: len(found) - len(found.lstrip())]
    indent = 0 if has_same_indent else weights.INDENT_COST
    if left != right:
        return Match(MatchKind.SPACING, indent + weights.SPACING_COST)
    return Match(MatchKind.MARGIN, indent or weights.TRAILING_COST)


def _bounded_distance(first: str, second: str, limit: int) -> int:
    """Edit distance that counts swapped letters as one; any larger number beyond `limit`."""
    start, end = _common_ends(first, second)
    left, right = first[start : len(first) - end], second[start : len(second) - end]
    return 1 if len(left) == 2 and left == right[::-1] else levenshtein_distance(left, right, limit=limit)


def is_similar(given: str, found: str) -> bool:
    """Check that two lines differ only by white space and minor typos, or by one punctuation character."""
    left, right = split_words(given), split_words(found)
    if find_numbers(given) != find_numbers(found) or are_antonyms(given, found):
        return False
    if len(left) != len(right):
        return levenshtein_distance(line_key(given), line_key(found), limit=1) <= 1
    differing = [(one, other) for one, other in zip(left, right, strict=True) if line_key(one) != line_key(other)]
    return len(differing) <= MAX_TYPO_CHARACTERS and all(_is_typo(one, other) for one, other in differing)


def _is_typo(given: str, found: str) -> bool:
    """Check that two words differ by one or two of many letters."""
    most = min(max(len(given), len(found)) // 4, MAX_TYPO_CHARACTERS)
    return _bounded_distance(given, found, most) <= most


def is_letter_typo(given: str, found: str) -> bool:
    """Check for a typical typo: a letter added, missing or swapped.

    In longer words a letter may also be replaced, but not the first one.
    """
    shorter = min(len(given), len(found))
    if _bounded_distance(given, found, 1) != 1 or shorter < _MIN_CUT_LENGTH:
        return False
    is_other_letter = len(given) == len(found) and sorted(given) != sorted(found)
    return not is_other_letter or (shorter >= _MIN_TYPO_LENGTH and given[0] == found[0])


def _compare_cut_with_typo(given_key: str, found_key: str) -> Match | None:
    start = found_key[: len(given_key) + len(given_key) // TYPO_DIVISOR]
    characters = prefix_distance(given_key, start)
    is_slip = characters <= len(given_key) // (2 * TYPO_DIVISOR)
    if not is_slip or not set(find_numbers(given_key)).issubset(find_numbers(start)):
        return None
    cost = weights.CUT_COST + weights.TYPO_COST + weights.CHARACTER_COST * characters
    # With many typos it might as well be a different line.
    return Match(MatchKind.CUT_TYPO if cost < weights.OTHER_COST else MatchKind.OTHER, cost)


@lru_cache(maxsize=8192)
def _bigrams(text: str) -> frozenset[str]:
    return frozenset(map(add, text, text[1:]))


def _common_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    shorter = min(len(first), len(second))
    start = common_prefix(first, second, limit=shorter)
    return start, common_suffix(first, second, limit=shorter - start)


def _differs_by_one_word(left: Sequence[str], right: Sequence[str]) -> bool:
    """Check that one word was replaced, added or removed, and the rest is equal and the greater part."""
    if abs(len(left) - len(right)) > 1 or min(len(left), len(right)) < _MIN_WORDS:
        return False
    start, end = _common_ends(left, right)
    differing = [*left[start : len(left) - end], *right[start : len(right) - end]]
    if len(differing) > 2 or not all(word.isidentifier() for word in differing):
        return False
    rest = sum(map(len, left)) - sum(map(len, left[start : len(left) - end]))
    return rest >= max(map(len, differing), default=0)
