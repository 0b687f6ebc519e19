"""Whether lines that were found mean what was given, however few letters differ: where they do not, nothing is written.

A slip is a slip of spelling, or a word of a line that only stands near the change. What names a block, what decides
whether it runs, an operator and the opposite of a word are none.
"""

import re
from collections.abc import Callable, Sequence

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.block_names import block_name
from tejat.tools.edit.folding import key_of, operators_of, unescaped, words_of
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import CUT, ELIDED, SLIP, WORD, is_slip_of_letters
from tejat.tools.edit.merge import Conflict
from tejat.tools.edit.opposites import are_opposite, pieces_of
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import MISSING, STALE

_GUARDS = re.compile(
    r"\s*(?:[}\])]+\s*)?(?:else\s+)?(?:if|elif|elsif|elseif|while|for|foreach|case|when|unless|until|guard|switch|match)\b"
)
_DECIDES = re.compile(r"\s*(?:assert|return)\b|.*\s\?\s")
_DASHES = re.compile("-(?: ?-)+")
_NEGATIONS = frozenset({"not", "no", "non", "never", "without", "un", "false", "off"})
_SHORTEST = 5
_INDENTED = 2


def check_meaning(given: Given, new: Sequence[str], page: Page, alignment: Alignment) -> None:
    """Raises Conflict at the first line that means something else than the one that was given."""
    new_keys = {key_of(line) for line in new}
    for index, place in enumerate(alignment.places):
        # Where lines were left out, costs are not quite whole.
        cost = round(alignment.costs[index])
        if place is None and index == given.first and cost >= MISSING and block_name(given.lines[index]):
            raise Conflict(alignment.start, "stands in another block than old_string says")
        if place is not None and cost == CUT and index == given.first and given.keys[index] not in new_keys:
            is_end = not page.keys[place].startswith(given.keys[index])
            if is_end and len(indent_of(given.lines[index])) >= _INDENTED:
                raise Conflict(place, "has more before it than old_string, which is indented as if it began there")
        if place is None or cost <= CUT or cost == ELIDED:
            continue
        # A line that the new text has as the file has it was known, however it was given.
        if page.keys[place] in new_keys and given.keys[index] not in new_keys:
            continue
        # How a sign is escaped does not change what it says.
        reason = _otherwise(_bare(given.lines[index]), _bare(page.lines[place]), cost, page.has_word)
        if reason is not None:
            raise Conflict(place, reason)


def _bare(line: str) -> str:
    """The line without any escapes: what was escaped once may be escaped twice in the file."""
    return unescaped(unescaped(line))


def _otherwise(given: str, found: str, cost: int, has_word: Callable[[str], bool]) -> str | None:
    words = _words(given), _words(found)
    is_spelt_alike = _are_alike(*words, lambda one, other: _is_misspelt(one, other, has_word))
    if not is_spelt_alike and _names_something_else(given, found):
        return "names something else than old_string does"
    is_longer = _are_alike(*words, _goes_on)
    decides = _GUARDS.match(given) and _GUARDS.match(found) and not is_spelt_alike and not is_longer
    if cost < STALE and (cost < CUT + SLIP or cost == WORD):
        if are_opposite(given, found):
            return "says the opposite of what old_string does"
        if words[0] != words[1] and sorted(words[0]) == sorted(words[1]):
            return "has its words in another order than old_string"
        if not _have_same_operators(given, found, is_longer=is_longer):
            return "has other operators than old_string"
        decides = decides or (_DECIDES.match(found) and not is_spelt_alike and not is_longer)
    elif cost < STALE:
        return None  # it was cut short besides, and may go on with anything
    return "decides otherwise than old_string does" if decides else None


def _have_same_operators(given: str, found: str, *, is_longer: bool) -> bool:
    is_plain = given.isascii() and found.isascii()
    operators, there = (_operators(line, is_plain=is_plain) for line in (given, found))
    # Of a name that goes on, the first part may be such a word.
    return operators == there or (is_longer and _without_words(operators) == _without_words(there))


def _names_something_else(given: str, found: str) -> bool:
    """Whether both name a block, and not the same one: a name that goes on is another one too."""
    left, right = (list(map(key_of, block_name(line))) for line in (given, found))
    return bool(left) and bool(right) and left != right


def _are_alike(given: Sequence[str], found: Sequence[str], is_like: Callable[[str, str], bool]) -> bool:
    if len(given) != len(found):
        return False
    return all(key_of(one) == key_of(other) or is_like(one, other) for one, other in zip(given, found, strict=True))


def _is_misspelt(given: str, found: str, has_word: Callable[[str], bool]) -> bool:
    """Whether it is a slip of spelling: no word that the file knows, and no short one, which could be any other."""
    if min(len(given), len(found)) < _SHORTEST or are_opposite(given, found) or has_word(given):
        return False
    left, right = pieces_of(given), pieces_of(found)
    differing = [(one, other) for one, other in zip(left, right, strict=False) if one != other]
    if len(left) == len(right) and len(differing) == 1:
        return is_slip_of_letters(*differing[0]) or (len(given) != len(found) and is_slip_of_letters(given, found))
    return is_slip_of_letters("".join(left), "".join(right))


def _goes_on(given: str, found: str) -> bool:
    """Whether the name in the file is the given one with more behind it: it was changed since, and is no other."""
    left, right = pieces_of(given), pieces_of(found)
    return len(left) < len(right) and left == right[: len(left)] and _NEGATIONS.isdisjoint(right[len(left) :])


def _words(line: str) -> list[str]:
    return [word for word in words_of(line) if word[0].isalnum() or word[0] == "_"]


def _operators(line: str, *, is_plain: bool) -> list[str]:
    """Its operators; where not all is plain, one dash may stand for two."""
    if is_plain:
        return operators_of(line)
    return operators_of(_DASHES.sub("-", " ".join(map(key_of, words_of(line)))))


def _without_words(operators: Sequence[str]) -> list[str]:
    return [operator for operator in operators if not operator[0].isalpha()]
