"""Guard against lines that differ by a few letters and mean something else.

A typo is a misspelling, or a different word in a line that is only context. A different block name, condition, operator
or antonym is not a typo.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.antonyms import are_antonyms, split_identifier
from tejat.tools.edit.match.block_names import find_block_name
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_comparer import is_letter_typo
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.normalize import find_operators, line_key, split_words, strip_escapes
from tejat.tools.edit.match.search_block import SearchBlock, indent_of

_GUARDS = re.compile(
    r"\s*(?:[}\])]+\s*)?(?:else\s+)?(?:if|elif|elsif|elseif|while|for|foreach|case|when|unless|until|guard|switch|match)\b"
)
_DECISIONS = re.compile(r"\s*(?:assert|return)\b|.*\s\?\s")
_DASHES = re.compile("-(?: ?-)+")
_NEGATIONS = frozenset({"not", "no", "non", "never", "without", "un", "false", "off"})
_OPPOSITE = "says the opposite of what old_string does"
_MIN_TYPO_LENGTH = 5
_MIN_INDENT = 2
_MAX_OTHER_WORDS = 2


def check_same_meaning(block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment) -> None:
    """Raise MergeConflict at the first line that means something else than the given one."""
    new_keys = {line_key(line) for line in new}
    for index, place in enumerate(alignment.positions):
        kind, is_first = alignment.matches[index].kind, index == block.first_nonblank
        if is_first and kind is MatchKind.MISSING and find_block_name(block.lines[index]):
            raise MergeConflict(alignment.start, "stands in another block than old_string says")
        if place is not None and is_first and kind is MatchKind.CUT and block.keys[index] not in new_keys:
            is_end = not target.keys[place].startswith(block.keys[index])
            if is_end and len(indent_of(block.lines[index])) >= _MIN_INDENT:
                raise MergeConflict(place, "has more before it than old_string, which is indented as if it began there")
        if place is None or kind <= MatchKind.ELIDED_END:
            continue
        # A line that the new text has in common with the file was known, however it was given.
        if target.keys[place] in new_keys and block.keys[index] not in new_keys:
            continue
        # Escaping does not change the meaning.
        given, found = _strip_all_escapes(block.lines[index]), _strip_all_escapes(target.lines[place])
        reason = _find_difference(given, found, kind, target.has_word)
        if reason is not None:
            raise MergeConflict(place, reason)


def _strip_all_escapes(line: str) -> str:
    """Strip two levels of escapes: text escaped once may be escaped twice in the file."""
    return strip_escapes(strip_escapes(line))


def _find_difference(given: str, found: str, kind: MatchKind, has_word: Callable[[str], bool]) -> str | None:
    words = _identifier_words(given), _identifier_words(found)
    if kind is MatchKind.REWORDED:
        # In other sentences, words like `all` and `any` oppose nothing.
        differing = Counter(words[0]) - Counter(words[1]), Counter(words[1]) - Counter(words[0])
        is_same_sentence = max(each.total() for each in differing) <= _MAX_OTHER_WORDS
        return _OPPOSITE if is_same_sentence and are_antonyms(given, found) else None
    is_spelt_alike = _words_match(*words, lambda one, other: _is_typo(one, other, has_word))
    if not is_spelt_alike and _names_other_block(given, found):
        return "names something else than old_string does"
    is_longer = _words_match(*words, _is_extended_name)
    decides = _GUARDS.match(given) and _GUARDS.match(found) and not is_spelt_alike and not is_longer
    if kind is MatchKind.CUT_TYPO:
        return None  # The line was cut as well and may continue with anything.
    if kind in (MatchKind.TYPO, MatchKind.WORD):
        if are_antonyms(given, found):
            return _OPPOSITE
        if words[0] != words[1] and sorted(words[0]) == sorted(words[1]):
            return "has its words in another order than old_string"
        if not _have_same_operators(given, found, is_longer=is_longer):
            return "has other operators than old_string"
        decides = decides or (_DECISIONS.match(found) and not is_spelt_alike and not is_longer)
    return "decides otherwise than old_string does" if decides else None


def _have_same_operators(given: str, found: str, *, is_longer: bool) -> bool:
    is_plain = given.isascii() and found.isascii()
    operators, there = (_normalized_operators(line, is_plain=is_plain) for line in (given, found))
    # The first part of an extended name may be an operator word.
    return operators == there or (is_longer and _symbol_operators(operators) == _symbol_operators(there))


def _names_other_block(given: str, found: str) -> bool:
    """Check whether both lines name a block, but different ones; an extended name is a different one."""
    left, right = (list(map(line_key, find_block_name(line))) for line in (given, found))
    return bool(left) and bool(right) and left != right


def _words_match(given: Sequence[str], found: Sequence[str], is_like: Callable[[str, str], bool]) -> bool:
    if len(given) != len(found):
        return False
    return all(line_key(one) == line_key(other) or is_like(one, other) for one, other in zip(given, found, strict=True))


def _is_typo(given: str, found: str, has_word: Callable[[str], bool]) -> bool:
    """Check for a misspelling: not a word of the file, and not so short that it could be any other word."""
    if min(len(given), len(found)) < _MIN_TYPO_LENGTH or are_antonyms(given, found) or has_word(given):
        return False
    left, right = split_identifier(given), split_identifier(found)
    differing = [(one, other) for one, other in zip(left, right, strict=False) if one != other]
    if len(left) == len(right) and len(differing) == 1:
        return is_letter_typo(*differing[0]) or (len(given) != len(found) and is_letter_typo(given, found))
    return is_letter_typo("".join(left), "".join(right))


def _is_extended_name(given: str, found: str) -> bool:
    """Check whether the name in the file extends the given one: it was changed since and is not a different one."""
    left, right = split_identifier(given), split_identifier(found)
    return len(left) < len(right) and left == right[: len(left)] and _NEGATIONS.isdisjoint(right[len(left) :])


def _identifier_words(line: str) -> list[str]:
    return [word for word in split_words(line) if word[0].isalnum() or word[0] == "_"]


def _normalized_operators(line: str, *, is_plain: bool) -> list[str]:
    """Find the operators; in text that is not ASCII, one dash may stand for two."""
    if is_plain:
        return find_operators(line)
    return find_operators(_DASHES.sub("-", " ".join(map(line_key, split_words(line)))))


def _symbol_operators(operators: Sequence[str]) -> list[str]:
    return [operator for operator in operators if not operator[0].isalpha()]
