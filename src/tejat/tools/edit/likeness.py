"""How well a line that was given fits a line of the file, as a cost: 0 for the same line, None for another one."""

from functools import cached_property, lru_cache
from operator import add

from tejat.tools.edit.distance import distance, distance_to_start
from tejat.tools.edit.folding import digits_of, key_of, names_of, unescaped, words_of
from tejat.tools.edit.opposites import are_opposite

TRAILING = 1
INDENTATION = 4
SPACING = 3
ESCAPED = 8
CUT = 14
ELIDED = 20
SLIP = 18
"""What a slip costs at least; each further character that differs costs PER_CHARACTER more."""
PER_CHARACTER = 4
WORD = 47
"""The cost of one word that is another one."""

MOST_CHARACTERS = 2
"""A slip of more characters costs as much as another word."""
ONE_IN = 5
"""One character in so many may differ in a slip."""
LONGEST = 2_000
"""A longer line is only ever compared as a whole."""

_SHORTEST_SLIP = 5
_SHORTEST_CUT = 3


class Likeness:
    """Compares a line that was given with lines of the file. What can be told of it alone is worked out once.

    `known` are the costs of lines, for whoever compares it with those of one file.
    """

    def __init__(self, line: str, key: str, *, is_first: bool = False, is_last: bool = False) -> None:
        """`is_first` and `is_last` say that the given line may lack its beginning or its end."""
        self._line, self._key = line, key
        self._is_first, self._is_last = is_first, is_last
        self._is_escaped, self._unescaped = may_be_escaped(key), unescaped(key)
        self._is_ascii = line.isascii()
        self._has_dots = key.endswith("...")
        self._pairs = _pairs(key)
        self.known: dict[str, float] = {}

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How long the key of a plain line is at least and at most that could be like this one."""
        size = len(self._key)
        is_sure = not (self._is_first or self._is_last or self._has_dots) and is_plain(self._line, self._key)
        # In a slip, a word that differs is no longer than all others together.
        return ((size + 1) // 2, 2 * size) if is_sure else (0, max(size, LONGEST))

    def cost(self, found: str, found_key: str) -> int | None:
        """0 for the same line, None for another one."""
        key = self._key
        if key == found_key:
            return _cost_of_spacing(self._line, found)
        if (self._is_escaped or may_be_escaped(found_key)) and unescaped(found_key) == self._unescaped:
            return ESCAPED
        if not key or not found_key or len(key) > LONGEST or len(found_key) > LONGEST:
            return None
        cost = self._cost_of_slip(found, found_key) if self._may_be_near(found, found_key) else None
        if self._has_dots:
            cost = _lesser(cost, self.cost_of_dots(found_key))
        if self._is_first or self._is_last:
            cost = _lesser(cost, _cost_of_cut(key, found_key, is_first=self._is_first, is_last=self._is_last))
        return cost

    def cost_of_dots(self, found_key: str) -> int | None:
        """Of a line whose end was left out: `# a long comment that...`."""
        start = self._before_dots
        return ELIDED if start and found_key.startswith(start) else None

    @cached_property
    def _before_dots(self) -> str:
        """What stands before the dots, if it tells anything."""
        start = key_of(self._line.rstrip().rstrip(".…"))
        return start if len(start) >= _SHORTEST_SLIP else ""

    def _may_be_near(self, found: str, found_key: str) -> bool:
        """Rules most lines out at a fraction of the price."""
        key = self._key
        # Where more than one word differs, it has to be a few characters.
        is_far = abs(len(key) - len(found_key)) > max(len(key), len(found_key), ONE_IN) // ONE_IN
        if is_far and self._is_amiss_at_both_ends(found, found_key):
            return False
        # Texts that are near each other share most pairs of letters.
        left, right = self._pairs, _pairs(found_key)
        most = len(left) if len(left) > len(right) else len(right)
        return 5 * len(left) >= 2 * most <= 5 * len(right) and 5 * len(left & right) >= 2 * most

    def _cost_of_slip(self, found: str, found_key: str) -> int | None:
        """The cost of a few characters or one word that were misremembered; None where it is more than that."""
        given, key = self._line, self._key
        if min(len(key), len(found_key)) < _SHORTEST_SLIP or digits_of(key) != digits_of(found_key):
            return None
        most = max(len(key) // ONE_IN, len(found_key) // ONE_IN, 1)
        few = min(most, MOST_CHARACTERS)
        # A character is part of two pairs, and two that changed places are part of three.
        differing = max(len(self._pairs - _pairs(found_key)), len(_pairs(found_key) - self._pairs))
        if differing <= max(2 * few, 3) and (characters := _distance(key, found_key, few)) <= few:
            return SLIP + PER_CHARACTER * characters
        if names_of(given) != names_of(found):
            return None
        is_other_word = not self._is_amiss_at_both_ends(found, found_key) and _differ_by_a_word(given, found)
        if is_other_word:
            return WORD
        may_be_near = abs(len(key) - len(found_key)) <= most and differing <= 2 * most
        return WORD if may_be_near and _distance(key, found_key, most) <= most else None

    def _is_amiss_at_both_ends(self, found: str, found_key: str) -> bool:
        """Whether neither the first nor the last characters are the same, as they are where one word differs."""
        key = self._key
        return key[0] != found_key[0] and key[-1] != found_key[-1] and self._is_ascii and found.isascii()


def _lesser(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def is_plain(line: str, key: str) -> bool:
    """Whether a line has nothing in it that is written in other ways, shorter or longer ones."""
    return "\\" not in key and "&" not in key and line.isascii()


def may_be_escaped(key: str) -> bool:
    """Whether anything in it could be an escape or an entity."""
    return "\\" in key or "&" in key


def _cost_of_spacing(given: str, found: str) -> int:
    """Each kind counts for itself, so that of two places the one wins where less of it differs."""
    left, right = given.strip(), found.strip()
    if given == found or not left:
        return 0
    cost = 0 if given[: len(given) - len(given.lstrip())] == found[: len(found) - len(found.lstrip())] else INDENTATION
    cost += 0 if left == right else SPACING
    return cost or TRAILING


def _distance(first: str, second: str, most: int) -> int:
    """Two letters that changed places count as one. Where it is more than `most`, some number above that."""
    left, right = _without_common_ends(first, second)
    return 1 if len(left) == 2 and left == right[::-1] else distance(left, right, most=most)


def is_near(given: str, found: str) -> bool:
    """Whether two lines are the same but for white space and a letter or two in a word, or one sign."""
    left, right = words_of(given), words_of(found)
    if digits_of(given) != digits_of(found) or are_opposite(given, found):
        return False
    if len(left) != len(right):
        return distance(key_of(given), key_of(found), most=1) <= 1
    differing = [(one, other) for one, other in zip(left, right, strict=True) if key_of(one) != key_of(other)]
    return len(differing) <= MOST_CHARACTERS and all(_is_misspelt(one, other) for one, other in differing)


def _is_misspelt(given: str, found: str) -> bool:
    """Whether two words differ by a letter or two of many."""
    most = min(max(len(given), len(found)) // 4, MOST_CHARACTERS)
    return _distance(given, found, most) <= most


def is_slip_of_letters(given: str, found: str) -> bool:
    """Whether two words differ as the same word does, written in a hurry: a letter too many, too few, or elsewhere.

    In a longer word one may be another one, but not the first.
    """
    shorter = min(len(given), len(found))
    if _distance(given, found, 1) != 1 or shorter < _SHORTEST_CUT:
        return False
    is_other_letter = len(given) == len(found) and sorted(given) != sorted(found)
    return not is_other_letter or (shorter >= _SHORTEST_SLIP and given[0] == found[0])


def _cost_of_cut(given_key: str, found_key: str, *, is_first: bool, is_last: bool) -> int | None:
    if len(given_key) >= len(found_key):
        return None
    if is_first and is_last:
        if len(given_key) < _SHORTEST_CUT:
            return None
        return CUT if found_key.count(given_key) == 1 else None
    if is_first:
        given_key, found_key = given_key[::-1], found_key[::-1]
    if found_key.startswith(given_key):
        return CUT
    if len(given_key) < 2 * _SHORTEST_SLIP or given_key[:3] != found_key[:3]:
        return None
    start = found_key[: len(given_key) + len(given_key) // ONE_IN]
    characters = distance_to_start(given_key, start)
    is_slip = characters <= len(given_key) // (2 * ONE_IN) and set(digits_of(given_key)) <= set(digits_of(start))
    return CUT + SLIP + PER_CHARACTER * characters if is_slip else None


@lru_cache(maxsize=8192)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(map(add, text, text[1:]))


def _without_common_ends(first: str, second: str) -> tuple[str, str]:
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]


def _differ_by_a_word(given: str, found: str) -> bool:
    """Whether one word is another one, too many or missing, and the rest is the same and the greater part."""
    left, right = words_of(given), words_of(found)
    if abs(len(left) - len(right)) > 1 or min(len(left), len(right)) < _FEWEST_WORDS:
        return False
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    differing = [*left[start : len(left) - end], *right[start : len(right) - end]]
    if len(differing) > 2 or not all(word.isidentifier() for word in differing):
        return False
    rest = sum(map(len, left)) - sum(map(len, left[start : len(left) - end]))
    return rest >= max(map(len, differing), default=0)


_FEWEST_WORDS = 3
