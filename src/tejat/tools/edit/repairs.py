"""Old and new text repaired: freed of marks and escapes that were never part of the file.

What is repaired in the old text is repaired in the new one only where that makes the two agree better: the same slip
was made in both then. Otherwise the new text is written as it was given.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

from tejat.core.value import value
from tejat.tools.edit import escapes, listings
from tejat.tools.edit.given import plain_lines
from tejat.tools.edit.request import EditRequest

MOST_REPAIRED = 200_000
"""Characters of a text that is repaired; a longer one was hardly typed by hand."""

_Respell = Callable[[str], "str | None"]
_RespellNew = Callable[[str, str], "str | None"]


@value
class Repair:
    """`says` is told to the model. `respell_new` is for the new text, which may be looser; the old one is given too."""

    says: str
    respell: _Respell
    respell_new: _RespellNew


class Repaired:
    """A request with repairs made, and what was repaired; nothing for the one that was given.

    What becomes of the new text is worked out only for those whose old text is worth it.
    """

    def __init__(self, old: str, new: Callable[[], str], expected: int | None, repairs: tuple[str, ...] = ()) -> None:
        self.old = old
        self.expected = expected
        self.repairs = repairs
        self._new = new

    @classmethod
    def of(cls, request: EditRequest, repairs: tuple[str, ...] = ()) -> "Repaired":
        return cls(request.old, lambda: request.new, request.expected, repairs)

    @cached_property
    def request(self) -> EditRequest:
        return EditRequest(self.old, self._new(), self.expected)

    def leaves_marks(self, asked: EditRequest, new: Sequence[str], found: Sequence[str]) -> bool:
        """Whether the new lines still have something that was left out of the old ones, as they were asked for.

        `found` are the lines of the file.
        """
        if not self.repairs:
            return False
        old = plain_lines(self.old)
        if self.is_certain and listings.leaves_marks(old, new):
            return True
        repaired = {*_bare(asked.old)}.intersection(_bare(asked.new)).difference(_bare(self.old))
        if self.is_of_a_diff:
            repaired = {line for line in repaired if line.startswith("-")}
        if any(line.rstrip() in repaired for line in new):
            return True
        if _NUMBERS not in self.repairs:
            return False
        is_moved = listings.is_moved_left(old, new) and listings.is_moved_left(found, new)
        return is_moved or listings.leaves_blanks(old, new) or listings.leaves_numbers(old, new)

    @property
    def is_of_a_diff(self) -> bool:
        """Whether the signs of a diff were left out."""
        return _SIGNS in self.repairs

    def undoes_all_in(self, page: str) -> bool:
        """Whether escapes or entities were undone of which the file has none at all."""
        return (_UNDONE in self.repairs and "\\" not in page) or (
            _WITHOUT_ENTITIES.says in self.repairs and not escapes.has_entities(page)
        )

    @property
    def is_certain(self) -> bool:
        """Whether the marks of a listing were found, which no ordinary text has."""
        return any(repair in _OF_LISTINGS for repair in self.repairs)


def _strip(says: str, strip: listings.Strip, strip_new: "listings.Strip | None" = None) -> Repair:
    of_new = strip_new or strip
    return Repair(says, lambda old: _joined(strip(_lines(old))), lambda new, _: _joined(of_new(_lines(new))))


def _strip_numbers(strip: listings.Strip, strip_new: listings.StripNew) -> Repair:
    return Repair(
        _NUMBERS,
        lambda old: _joined(strip(_lines(old))),
        lambda new, old: _joined(strip_new(_lines(new), _lines(old))),
    )


@lru_cache(maxsize=16)
def _lines(text: str) -> tuple[str, ...]:
    """The same text is asked for by one repair after the other."""
    return tuple(plain_lines(text))


def _joined(lines: "list[str] | None") -> str | None:
    return None if lines is None else "\n".join(lines)


def _respell(says: str, function: Callable[[str], str]) -> Repair:
    return Repair(says, function, lambda new, _: function(new))


_NUMBERS = "line numbers were left out"
_SIGNS = "the signs of a diff were left out"
_FENCE = _strip("the code fence was left out", listings.without_fence)
_MARGIN = _strip(_SIGNS, listings.without_margin, listings.without_signs_or_margin)
_QUOTES = _strip("the quotes around the text were left out", listings.without_outer_quotes)
_LISTINGS = (
    _FENCE,
    _strip_numbers(listings.without_spaced_numbers, listings.without_spaced_numbers_like),
    _strip_numbers(listings.without_numbers, listings.without_numbers_like),
    _strip(_SIGNS, listings.without_signs, listings.without_signs_or_margin),
    _strip(_SIGNS, listings.without_added, listings.without_signs_or_margin),
    _MARGIN,
    _strip(_SIGNS, listings.without_bare_signs, listings.without_bare_signs_of_new),
    _strip("quote marks were left out", listings.without_quote_marks),
    _QUOTES,
)
_UNDONE = "one level of escapes was undone"
_WITHOUT_ENTITIES = _respell("HTML entities were taken for what they stand for", escapes.without_entities)
_ADDED = "a missing level of escapes was put on"
_AS_ENTITIES = "characters were written as HTML entities, as in the file"
_ESCAPES = (
    *(_respell(_UNDONE, function) for function in escapes.UNDOING),
    _WITHOUT_ENTITIES,
    *(_respell(_ADDED, function) for function in escapes.ADDING),
    *(_respell(_AS_ENTITIES, way) for way in escapes.ENTITIES),
)


def variants(request: EditRequest, text: str) -> Iterator[Repaired]:
    """The request with one repair, then those with two, without repetitions; the given one is not among them.

    `text` is what is searched: neither escapes nor entities are put on of which it has none at all.
    """
    if max(len(request.old), len(request.new)) > MOST_REPAIRED:
        return
    of_listings = [repair for repair in _LISTINGS if repair is not _MARGIN or "+" in request.new]
    absent = {says for says, sign in ((_ADDED, "\\"), (_AS_ENTITIES, "&")) if sign not in text}
    of_escapes = [repair for repair in _ESCAPES if repair.says not in absent]
    seen = {request.old}
    once: list[Repaired] = []
    given = Repaired.of(request)
    for repair in (*of_listings, *of_escapes):
        repaired = _repaired(given, repair, text)
        if repaired is not None and repaired.old not in seen:
            seen.add(repaired.old)
            once.append(repaired)
            yield repaired
    for first in once:
        # Marks are around escapes and around other marks; a second level of escapes is nobody's slip.
        for repair in (*of_listings, *of_escapes) if first.repairs[0] in _OF_LISTINGS else of_listings:
            repaired = _repaired(first, repair, text)
            if repaired is not None and repaired.old not in seen:
                seen.add(repaired.old)
                yield repaired


_OF_LISTINGS = {repair.says for repair in _LISTINGS}


def _repaired(given: Repaired, repair: Repair, text: str) -> Repaired | None:
    if repair.says in given.repairs:
        return None
    old = repair.respell(given.old)
    if old is None or old == given.old or not old.strip():
        return None
    if repair.says == _SIGNS and not _may_be_of_a_diff(given, repair):
        return None
    if repair is _QUOTES and not _may_be_quoted(given):
        return None
    if repair is _FENCE:
        if listings.may_have_fences(text) and not listings.is_fenced(_lines(given.old)):
            return None  # one fence alone may be the file's
        new = _new(given.request, repair, old)
        if not {*_bare(given.old)}.difference(_bare(old)).isdisjoint(_bare(new)):
            return None  # the file has such a line
        old = _ending_alike(old, new)
    return Repaired(old, lambda: _new(given.request, repair, old), given.expected, (*given.repairs, repair.says))


def _may_be_of_a_diff(given: Repaired, repair: Repair) -> bool:
    """Whether the new text has signs of a diff too, where it has to, and can be freed of them."""
    new = given.request.new
    if repair is _MARGIN and not listings.has_signs(new):
        return False
    return "\n+" not in f"\n{new}" or repair.respell_new(new, given.old) is not None


def _may_be_quoted(given: Repaired) -> bool:
    """Whether the new text has no such quote before it, or has them around it too: else the text itself begins so."""
    new = given.request.new
    return new.lstrip()[:1] != given.old.lstrip()[:1] or _QUOTES.respell(new) is not None


def _new(request: EditRequest, repair: Repair, old: str) -> str:
    """The new text, repaired too if it has the same slip; `old` is the old one repaired."""
    new = repair.respell_new(request.new, request.old)
    if repair.says == _UNDONE:
        new = escapes.undone_as_in(request.old, request.new, lambda text: repair.respell(text) or text)
    if repair.says == _UNDONE and not escapes.is_escaped_alike(request.old, request.new):
        return request.new
    if new is None or new == request.new:
        return _marked_throughout(request, repair, old) or request.new
    is_emptied = bool(request.new.strip()) and not new.strip()
    stranger = _compared(new, request.new, old)
    if not is_emptied and stranger < 0:
        return new
    if stranger == 0 and repair is _WITHOUT_ENTITIES and escapes.has_only_entities(request.old, request.new):
        return new
    if stranger == 0 and repair.says == _SIGNS and listings.has_odd_margin(plain_lines(request.new)):
        return new
    return _marked_throughout(request, repair, old) or request.new


def _ending_alike(old: str, new: str) -> str:
    """The old text ending as the new one does: what stood before the closing fence may belong to either."""
    ends = not new or new.endswith("\n")
    return old.removesuffix("\n") + ("\n" if ends else "")


def _marked_throughout(request: EditRequest, repair: Repair, old: str) -> str | None:
    """The new text repaired where each of its lines has the mark that each of the old ones had."""
    if repair.says not in _OF_LISTINGS or (repair.says == _SIGNS and "\n+" not in f"\n{request.new}"):
        return None
    # A line that begins with a plus and is not among the old ones is one that a diff adds.
    is_looser = repair.says in {_SIGNS, _NUMBERS}
    repaired = repair.respell_new(request.new, request.old) if is_looser else repair.respell(request.new)
    return None if repaired is None or _unshared(repaired, old) > _unshared(request.new, old) else repaired


def _compared(one: str, other: str, old: str) -> int:
    """Which new text is stranger to the old one: below zero if it is the other, above if it is the one.

    The fewer lines of the old text it has, the stranger; then by lines that are shifted, and by words that are new.
    """
    for strangeness in (_unshared, _unshifted, _new_words):
        left, right = strangeness(one, old), strangeness(other, old)
        if left != right:
            return -1 if left < right else 1
    return 0


def _unshared(new: str, old: str) -> float:
    return -(Counter(_bare(new)) & Counter(_bare(old))).total()


def _unshifted(new: str, old: str) -> float:
    return -(Counter(map(str.lstrip, _bare(new))) & Counter(map(str.lstrip, _bare(old)))).total()


def _new_words(new: str, old: str) -> float:
    """The part of its words that are new."""
    new_words, old_words = Counter(_WORD.findall(new)), Counter(_WORD.findall(old))
    return (new_words - old_words).total() / max(new_words.total(), 1)


_WORD = re.compile(r"&\w{2,5};|\\.|\w+|[^\w\s]")
"""A word or a sign; an entity or an escape is one."""


def _bare(text: str) -> Sequence[str]:
    return [line.rstrip() for line in plain_lines(text) if line.strip()]
