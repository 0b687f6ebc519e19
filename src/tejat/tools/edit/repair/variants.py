"""Variants of a request with listing marks and escapes repaired.

The new text is repaired like the old one only if that makes them agree better, because both have the same mistake.
Otherwise the new text stays as given.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.search_block import SearchBlock, split_lines
from tejat.tools.edit.repair import escapes, listing_marks
from tejat.tools.edit.repair.new_indentation import indent_like_old
from tejat.tools.edit.request import EditRequest

MAX_REPAIRED_LENGTH = 200_000
"""Longer texts are not repaired."""

_Respell = Callable[[str], "str | None"]
_RespellNew = Callable[[str, str], "str | None"]


class Repair(Frozen):
    """One kind of repair. `note` is for the model; `respell_new` repairs the new text, given the old one."""

    note: str
    respell: _Respell
    respell_new: _RespellNew


class RepairedRequest:
    """Request with repairs and notes about them. The repaired new text is computed on demand."""

    def __init__(self, old: str, new: Callable[[], str], expected: int | None, repairs: tuple[str, ...] = ()) -> None:
        self.old = old
        self.expected = expected
        self.notes = repairs
        self._new = new

    @classmethod
    def from_request(cls, request: EditRequest, repairs: tuple[str, ...] = ()) -> "RepairedRequest":
        return cls(request.old, lambda: request.new, request.expected, repairs)

    @cached_property
    def respelled(self) -> EditRequest:
        """The request with the repairs made so far."""
        return EditRequest(self.old, self._new(), self.expected)

    @cached_property
    def request(self) -> EditRequest:
        """The repaired request, with the new text indented like the old one."""
        return EditRequest(self.old, indent_like_old(self.old, self.respelled.new), self.expected)

    @cached_property
    def block(self) -> SearchBlock:
        """The lines of the old text. Most need no look at the new text, which takes long to repair."""
        # Indenting the new text changes neither whether it is empty nor how it ends.
        has_final_line_end = self.old.endswith(("\n", "\r"))
        return SearchBlock.for_edit(self.old, self.respelled.new if has_final_line_end else "")

    def leaves_marks(self, asked: EditRequest, new: Sequence[str], found: Sequence[str]) -> bool:
        """Check whether the new lines still have marks that were removed from the old ones.

        `asked` is the original request, `found` the lines of the file.
        """
        if not self.notes:
            return False
        old = split_lines(self.old)
        if self.is_from_listing and listing_marks.has_listing_marks(old, new):
            return True
        repeated = {*_nonblank_lines(asked.old)}.intersection(_nonblank_lines(asked.new))
        repaired = repeated.difference(_nonblank_lines(self.old))
        if self.is_from_diff:
            repaired = {line for line in repaired if line.startswith("-")}
        if any(line.rstrip() in repaired for line in new):
            return True
        if _NUMBERS_NOTE not in self.notes:
            return False
        is_moved = listing_marks.has_shifted_left(old, new) and listing_marks.has_shifted_left(found, new)
        return is_moved or listing_marks.has_shifted_right(old, new) or listing_marks.has_number_or_plus(old, new)

    @property
    def is_from_diff(self) -> bool:
        """Whether diff signs were removed."""
        return _DIFF_NOTE in self.notes

    def unescapes_foreign(self, target: str) -> bool:
        """Check whether escapes or entities were undone of which the file has none."""
        if _UNESCAPED_NOTE in self.notes and "\\" not in target:
            return True
        return _ENTITY_REPAIR.note in self.notes and not escapes.has_entities(target)

    @property
    def is_from_listing(self) -> bool:
        """Whether listing marks were removed, which ordinary text does not have."""
        return any(repair in _LISTING_NOTES for repair in self.notes)


def _line_repair(
    note: str, strip: listing_marks.LineTransform, strip_new: "listing_marks.LineTransform | None" = None
) -> Repair:
    of_new = strip_new or strip
    return Repair(note, lambda old: _join_lines(strip(_lines(old))), lambda new, _: _join_lines(of_new(_lines(new))))


def _number_repair(number: "re.Pattern[str]") -> Repair:
    return Repair(
        _NUMBERS_NOTE,
        lambda old: _join_lines(listing_marks.strip_numbers(_lines(old), number)),
        lambda new, old: _join_lines(listing_marks.strip_numbers_like(_lines(new), _lines(old), number)),
    )


@lru_cache(maxsize=16)
def _lines(text: str) -> tuple[str, ...]:
    """Cached, because all repairs split the same text."""
    return tuple(split_lines(text))


def _join_lines(lines: "list[str] | None") -> str | None:
    return None if lines is None else "\n".join(lines)


def _text_repair(note: str, function: Callable[[str], str]) -> Repair:
    return Repair(note, function, lambda new, _: function(new))


_NUMBERS_NOTE = "line numbers were left out"
_DIFF_NOTE = "the signs of a diff were left out"
_FENCE_REPAIR = _line_repair("the code fence was left out", listing_marks.strip_fence)
_MARGIN_REPAIR = _line_repair(_DIFF_NOTE, listing_marks.strip_margin, listing_marks.strip_diff_signs_or_margin)
_QUOTES_REPAIR = _line_repair("the quotes around the text were left out", listing_marks.strip_outer_quotes)
_LISTING_REPAIRS = (
    _FENCE_REPAIR,
    _number_repair(listing_marks.SPACED_NUMBER),
    _number_repair(listing_marks.NUMBER),
    _line_repair(_DIFF_NOTE, listing_marks.strip_diff_signs, listing_marks.strip_diff_signs_or_margin),
    _line_repair(_DIFF_NOTE, listing_marks.drop_added_lines, listing_marks.strip_diff_signs_or_margin),
    _MARGIN_REPAIR,
    _line_repair(_DIFF_NOTE, listing_marks.strip_bare_signs, listing_marks.strip_added_signs),
    _line_repair("quote marks were left out", listing_marks.strip_quote_prefixes),
    _QUOTES_REPAIR,
)
_UNESCAPED_NOTE = "one level of escapes was undone"
_ENTITY_REPAIR = _text_repair("HTML entities were taken for what they stand for", escapes.unescape_entities)
_ESCAPED_NOTE = "a missing level of escapes was put on"
_ENTITIES_NOTE = "characters were written as HTML entities, as in the file"
_ESCAPE_REPAIRS = (
    *(_text_repair(_UNESCAPED_NOTE, function) for function in escapes.UNESCAPES),
    _ENTITY_REPAIR,
    *(_text_repair(_ESCAPED_NOTE, function) for function in escapes.ESCAPES),
    *(_text_repair(_ENTITIES_NOTE, way) for way in escapes.ENTITY_ESCAPES),
)


def generate_variants(request: EditRequest, text: str) -> Iterator[RepairedRequest]:
    """Generate variants with one repair and then with two, without duplicates and without the original.

    `text` is the file: escapes and entities that it does not contain are not added.
    """
    if max(len(request.old), len(request.new)) > MAX_REPAIRED_LENGTH:
        return
    of_listings = [repair for repair in _LISTING_REPAIRS if repair is not _MARGIN_REPAIR or "+" in request.new]
    absent = {note for note, sign in ((_ESCAPED_NOTE, "\\"), (_ENTITIES_NOTE, "&")) if sign not in text}
    of_escapes = [repair for repair in _ESCAPE_REPAIRS if repair.note not in absent]
    seen = {request.old}
    once: list[RepairedRequest] = []
    for given in chain([RepairedRequest.from_request(request)], once):
        # Listing marks surround escapes and other marks; two levels of escaping are not a mistake anyone makes.
        may_be_escaped = not given.notes or given.is_from_listing
        for repair in (*of_listings, *of_escapes) if may_be_escaped else of_listings:
            repaired = _apply_repair(given, repair, text)
            if repaired is not None and repaired.old not in seen:
                seen.add(repaired.old)
                if not given.notes:
                    once.append(repaired)
                yield repaired


_LISTING_NOTES = {repair.note for repair in _LISTING_REPAIRS}


def _apply_repair(given: RepairedRequest, repair: Repair, text: str) -> RepairedRequest | None:
    if repair.note in given.notes:
        return None
    old = repair.respell(given.old)
    if old is None or old == given.old or not old.strip():
        return None
    if repair.note == _DIFF_NOTE and not _may_be_from_diff(given, repair):
        return None
    if repair is _QUOTES_REPAIR and not _may_be_quoted(given):
        return None
    if repair is _FENCE_REPAIR:
        if listing_marks.may_have_fences(text) and not listing_marks.is_fenced(_lines(given.old)):
            return None  # A single fence may belong to the file.
        new = _repair_new(given.respelled, repair, old)
        if not {*_nonblank_lines(given.old)}.difference(_nonblank_lines(old)).isdisjoint(_nonblank_lines(new)):
            return None  # The file has such a line.
        old = _match_final_newline(old, new)
    notes = (*given.notes, repair.note)
    return RepairedRequest(old, lambda: _repair_new(given.respelled, repair, old), given.expected, notes)


def _may_be_from_diff(given: RepairedRequest, repair: Repair) -> bool:
    """Check that the new text has diff signs too, if it must, and that they can be removed."""
    new = given.respelled.new
    if repair is _MARGIN_REPAIR and not listing_marks.has_diff_signs(new):
        return False
    return "\n+" not in f"\n{new}" or repair.respell_new(new, given.old) is not None


def _may_be_quoted(given: RepairedRequest) -> bool:
    """Check that the quotes around the old text do not belong to it: the new text has none or is quoted too."""
    new = given.respelled.new
    return new.lstrip()[:1] != given.old.lstrip()[:1] or _QUOTES_REPAIR.respell(new) is not None


def _repair_new(request: EditRequest, repair: Repair, old: str) -> str:
    """Repair the new text too if it has the same mistake; `old` is the repaired old text."""
    new = repair.respell_new(request.new, request.old)
    if repair.note == _UNESCAPED_NOTE:
        new = escapes.unescape_like(request.old, request.new, lambda text: repair.respell(text) or text)
    if repair.note == _UNESCAPED_NOTE and not escapes.has_same_escaping(request.old, request.new):
        return request.new
    if new is None or new == request.new:
        return _repair_fully_marked(request, repair, old) or request.new
    is_emptied = bool(request.new.strip()) and not new.strip()
    stranger = _compare_strangeness(new, request.new, old)
    is_sure = (repair is _ENTITY_REPAIR and escapes.uses_only_entities(request.old, request.new)) or (
        repair.note == _DIFF_NOTE and listing_marks.has_odd_margin(split_lines(request.new))
    )
    if (not is_emptied and stranger < 0) or (stranger == 0 and is_sure):
        return new
    return _repair_fully_marked(request, repair, old) or request.new


def _match_final_newline(old: str, new: str) -> str:
    """End the old text as the new one: the line end before a closing fence may belong to either."""
    ends = not new or new.endswith("\n")
    return old.removesuffix("\n") + ("\n" if ends else "")


def _repair_fully_marked(request: EditRequest, repair: Repair, old: str) -> str | None:
    """Repair the new text if each of its lines is marked like the old ones."""
    if repair.note not in _LISTING_NOTES or (repair.note == _DIFF_NOTE and "\n+" not in f"\n{request.new}"):
        return None
    # A line with a plus that is not an old line is an added one.
    is_looser = repair.note in {_DIFF_NOTE, _NUMBERS_NOTE}
    repaired = repair.respell_new(request.new, request.old) if is_looser else repair.respell(request.new)
    return None if repaired is None or _unshared_lines(repaired, old) > _unshared_lines(request.new, old) else repaired


def _compare_strangeness(one: str, other: str, old: str) -> int:
    """Compare two new texts: negative if `one` is closer to the old text, positive if `other` is.

    By the number of common lines, then of lines with another indent, then by the share of new words.
    """
    for strangeness in (_unshared_lines, _unshared_bodies, _new_word_share):
        left, right = strangeness(one, old), strangeness(other, old)
        if left != right:
            return -1 if left < right else 1
    return 0


def _unshared_lines(new: str, old: str) -> float:
    return -(Counter(_nonblank_lines(new)) & Counter(_nonblank_lines(old))).total()


def _unshared_bodies(new: str, old: str) -> float:
    return -(Counter(map(str.lstrip, _nonblank_lines(new))) & Counter(map(str.lstrip, _nonblank_lines(old)))).total()


def _new_word_share(new: str, old: str) -> float:
    """Share of words that are new."""
    new_words, old_words = Counter(_WORD.findall(new)), Counter(_WORD.findall(old))
    return (new_words - old_words).total() / max(new_words.total(), 1)


_WORD = re.compile(r"&\w{2,5};|\\.|\w+|[^\w\s]")
"""A word or a sign; an entity or an escape counts as one."""


def _nonblank_lines(text: str) -> Sequence[str]:
    return [line.rstrip() for line in split_lines(text) if line.strip()]
