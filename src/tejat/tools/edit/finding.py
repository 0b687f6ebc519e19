"""Finds what an edit means and what has to be written there: the stages, one after the other.

First the text as it was given; then with marks and escapes left out that were never part of the file; then the place
that it fits best, if it fits well and no other fits nearly as well. What is not certain is refused, with the places
that come nearest. All of it is pure: a file and a request in, edits or a refusal out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from tejat.core.value import value
from tejat.tools.edit import listings
from tejat.tools.edit.alignment import Alignment, costs_as_it_stands
from tejat.tools.edit.certainty import as_good, is_whole, meant
from tejat.tools.edit.dots import check_dots
from tejat.tools.edit.excerpt import excerpt_of
from tejat.tools.edit.folding import is_telling, key_of
from tejat.tools.edit.given import Given, indent_of, is_elision, plain_lines
from tejat.tools.edit.likeness import CUT
from tejat.tools.edit.line_breaks import with_escaped_breaks, with_the_same_breaks
from tejat.tools.edit.line_marks import check_marks, with_marks_of_file
from tejat.tools.edit.long_lines import amid_a_long_line
from tejat.tools.edit.meaning import check_meaning
from tejat.tools.edit.merge import Conflict, merge
from tejat.tools.edit.overlooked import overlooked
from tejat.tools.edit.page import LineEdit, Page
from tejat.tools.edit.places import Places, places
from tejat.tools.edit.repairs import Repaired, variants
from tejat.tools.edit.request import EditRequest, exact
from tejat.tools.edit.respelled import effect_of
from tejat.tools.edit.rewrapped import rewrapped
from tejat.tools.edit.surroundings import told_apart
from tejat.workspace.splice import TextEdit, TextFile

MOST_SEARCHED = 16 * 2**20
"""Bytes of a file that is searched as a whole for more than the text as it was given."""
MOST_GIVEN = 2_000
"""Lines of a text that is sought so."""
_MOST_SEVERAL = 500
_MOST_ALIGNED = 6
_MOST_AS_GOOD = 2
"""Repairs that are tried though they find no more lines: these may have a slip besides."""
_MOST_REJOINED = 3
_SEVERAL = 4
_NOT_THERE = 10_000
_MARKED = 10
_FOREIGN = 3
_WORTH = 6
"""What a telling line that is found is worth, when one repair is compared with another."""
_REJOINED = "line breaks were taken for the escapes in the file"
_REMARKED = "the mark before each line was written as in the file"
_BY_SURROUNDINGS = "of several equal places the one was taken whose surroundings new_string repeats"


@value
class Found:
    """The edits to make, in how many places, and how the request was corrected: not at all if it was right."""

    edits: list[TextEdit]
    places: int
    corrections: tuple[str, ...] = ()


@value
class Refused:
    """Why there is no edit. `count` is how many places there are where the text stands as it was given: `exact`.

    `given` are the lines that were sought, `nearest` the places that come nearest to them, best first; `conflict` says
    what was in the way at the first of them. `is_applied` means that the file looks like the new text already.
    `rewrapped` are the lines, from the first up to the one behind the last, that hold the text with other line breaks.
    """

    count: int = 0
    given: Given | None = None
    page: Page | None = None
    nearest: Sequence[Alignment] = ()
    conflict: Conflict | None = None
    is_applied: bool = False
    is_large: bool = False
    exact: Sequence[TextEdit] = ()
    rewrapped: tuple[int, int] | None = None


def find(file: TextFile, request: EditRequest, *, closely: bool = True) -> Found | Refused:
    """Without `closely` only the text as it was given is looked for."""
    edits = exact(file, request)
    if request.accepts(len(edits)):
        return Found(edits, len(edits))
    if not closely or not request.old.strip():
        return Refused(len(edits))
    if max(map(request.old.count, "\n\r")) > MOST_GIVEN or (edits and len(file.raw) > MOST_SEARCHED):
        return Refused(len(edits), is_large=True)
    if len(file.raw) > MOST_SEARCHED:
        return _find_in_excerpt(file, request)
    search = _Search(Page(file), file, request)
    if edits:
        return search.by_surroundings(edits, Repaired.of(request)) or search.refused(edits)
    return search.closely()


def _find_in_excerpt(file: TextFile, request: EditRequest) -> Found | Refused:
    """Looks only where something rare of the text stands. How often it stands elsewhere is not known."""
    excerpt = excerpt_of(file, request.old) if request.expected == 1 else None
    if excerpt is None:
        return Refused(0, is_large=True)
    search = _Search(excerpt.page, excerpt.file, request)
    found = search.closely()
    if isinstance(found, Refused):
        return found
    edits = excerpt.edits(found.edits)
    return Refused(0, is_large=True) if edits is None else Found(edits, found.places, found.corrections)


class _Search:
    def __init__(self, page: Page, file: TextFile, request: EditRequest) -> None:
        self._page, self._file, self._request = page, file, request

    def closely(self) -> Found | Refused:
        """The text as it stands in the file, whatever differs."""
        repaired = self.repaired()
        if repaired is not None:
            return repaired
        found = self.aligned()
        return self._otherwise(found) if isinstance(found, Refused) and not found.is_applied else found

    def _otherwise(self, refused: Refused) -> Found | Refused:
        """Text that has no lines in common with the file: it is broken in another way, or part of a very long one."""
        place = rewrapped(self._request, self._page)
        if place is not None and any(_is_elsewhere(each, place.start, place.end) for each in refused.nearest):
            return refused
        if place is not None and not place.edits:
            return Refused(0, page=self._page, rewrapped=(place.start, place.end))
        if place is not None and place.edits:
            return Found(self._page.text_edits(place.edits), 1, ("overlooked: line breaks",))
        edits = amid_a_long_line(self._request, self._page)
        return Found(self._page.text_edits(edits), 1, ("overlooked: a slip or white space",)) if edits else refused

    def by_surroundings(self, edits: Sequence[TextEdit], repaired: Repaired) -> Found | None:
        """The one of several equal places around which the lines stand that the new text repeats."""
        if repaired.request.expected != 1 or len(edits) > _MOST_SEVERAL:
            return None
        ranges = [self._page.lines_at(edit.start, edit.end) for edit in edits]
        old = Given.of(repaired.old)
        if any(self._page.keys[start:end] != old.keys for start, end in ranges):
            return None  # what stands in the same line is not to be changed
        told = told_apart(old.lines, repaired.request.new_lines, self._page, ranges)
        return Found(self._page.text_edits(told), 1, (*repaired.repairs, _BY_SURROUNDINGS)) if told else None

    def refused(self, edits: Sequence[TextEdit]) -> Refused:
        """What was found as it was given, but not as often as expected."""
        return Refused(len(edits), page=self._page, exact=edits)

    def repaired(self) -> Found | Refused | None:
        """The text as it stands in the file once it is repaired. Where it stands too often, no other way is sought."""
        if self._needs_no_repair():
            return None
        several: list[TextEdit] = []
        for repaired in self._variants:
            edits = self._whole_lines(repaired)
            # What becomes of the new text is not worked out in vain. A bracket alone tells no place.
            if not edits or not any(is_telling(key_of(line)) for line in plain_lines(repaired.old)):
                continue
            if repaired.leaves_marks(self._request, plain_lines(repaired.request.new), plain_lines(repaired.old)):
                continue
            if repaired.request.accepts(len(edits)):
                return self._applied(repaired, edits) or Found(edits, len(edits), repaired.repairs)
            found = self.by_surroundings(edits, repaired)
            if found is not None:
                return found
            several = several or edits
        return self.refused(several) if several else None

    def _applied(self, repaired: Repaired, edits: Sequence[TextEdit]) -> Refused | None:
        """The refusal of an edit at whose place the whole new text stands already."""
        news = self._file.find_all(repaired.request.new) if repaired.request.new.strip() else ()
        if not any(new.start <= edit.start and edit.end <= new.end for new in news for edit in edits[:1]):
            return None
        return Refused(0, Given.of(repaired.old), self._page, is_applied=True)

    def _needs_no_repair(self) -> bool:
        """Whether every line is in the file but for white space, or some are dots, which are in no file."""
        request, there = self._request, self._page.key_set
        lines = plain_lines(request.old)
        strange = [line for line in lines if (key := key_of(line)) and key not in there]
        if any(map(is_elision, strange)):
            return True
        has_marks = listings.may_have_fences(request.old) or listings.has_signs(request.new)
        return not strange and not has_marks

    @cached_property
    def _variants(self) -> list[Repaired]:
        found, rejoined = list(variants(self._request, self._file.text)), list[Repaired]()
        # Line breaks may have been taken for their escapes within the marks of a listing too.
        unmarked = [each for each in found if each.is_certain and len(each.repairs) == 1]
        for repaired in [Repaired.of(self._request), *unmarked][:_MOST_REJOINED]:
            request = repaired.request
            lines, new = plain_lines(request.old), plain_lines(request.new)
            groups = with_escaped_breaks(lines, self._page)
            if len(groups) < len(lines):
                old = "\n".join("".join(group) for group in groups)
                joined = EditRequest(old, "\n".join(with_the_same_breaks(new, groups)), request.expected)
                rejoined.append(Repaired.of(joined, (*repaired.repairs, _REJOINED)))
        marked = with_marks_of_file(self._request, self._page)
        return [*([Repaired.of(marked, (_REMARKED,))] if marked else []), *rejoined, *found]

    def _whole_lines(self, repaired: Repaired) -> list[TextEdit]:
        """Where the text stands as whole lines: amid one it may be cut short, and then more than this is needed."""
        places = [
            each for each in self._file.find_all(repaired.old) if self._page.holds_whole_lines(each.start, each.end)
        ]
        return [TextEdit(place.start, place.end, repaired.request.new) for place in places]

    def aligned(self) -> Found | Refused:
        """The place that the text fits best, as it was given or repaired."""
        first = best = _Fit(self._page, Repaired.of(self._request), self._request)
        if not first.is_whole or listings.has_signs(self._request.new):
            for repaired, finds_more in self._worth_aligning():
                if not self._is_in_vain(repaired, first, best):
                    # What finds no more lines can only stand where the text itself may.
                    beginnings = () if finds_more else first.sought.beginnings
                    fit = _Fit(self._page, repaired, self._request, beginnings=beginnings)
                    best = fit if self._is_better(fit, best) else best
        return best.found() or best.refused()

    def _is_in_vain(self, repaired: Repaired, first: "_Fit", best: "_Fit") -> bool:
        """Whether a repair fits no better than the text as it was given, as far as the lines tell that it changes."""
        effect = None if repaired.is_certain or first.total < best.total else first.effect_of(repaired)
        if effect == "none":
            return not self._is_better(_Fit(self._page, repaired, self._request, first.sought), best)
        return effect == "farther"

    def _is_better(self, fit: "_Fit", best: "_Fit") -> bool:
        is_farther = not fit.repaired.is_certain and fit.total > best.total
        return not is_farther and self._price(fit) < self._price(best)

    def _price(self, fit: "_Fit") -> float:
        # Each repair is a further guess, so it has to be worth it; marks of a listing are none.
        price = fit.price + (-_MARKED if fit.repaired.is_certain else 2 * len(fit.repaired.repairs))
        return price - (_FOREIGN if fit.repaired.undoes_all_in(self._file.text) else 0)

    def _worth_aligning(self) -> Iterator[tuple[Repaired, bool]]:
        """Repairs that may bring the text nearer to the file, and whether more lines are there then."""
        most = _lines_there(self._request.old, self._page)
        left, alike = _MOST_ALIGNED, _MOST_AS_GOOD
        # Of several lines, one at least should be there.
        is_long = sum(map(is_telling, map(key_of, plain_lines(self._request.old)))) >= _SEVERAL
        for repaired in self._variants:
            there = _lines_there(repaired.old, self._page)
            is_alike = there == most and not repaired.is_certain
            if not left or there < most or (is_alike and not alike) or (is_long and not there):
                continue
            left, alike = left - 1, alike - is_alike
            yield repaired, not is_alike


class _Fit:
    """A request laid along the file."""

    def __init__(
        self,
        page: Page,
        repaired: Repaired,
        asked: EditRequest,
        sought: Places | None = None,
        beginnings: Sequence[int] = (),
    ) -> None:
        """`sought` are its places where they are known already, `beginnings` where they are looked for alone."""
        self._page, self.repaired, self._asked = page, repaired, asked
        request = repaired.request
        self._given = Given.for_new(request.old, request.new)
        self._new = request.new_lines
        several = None if request.expected == 1 else _MOST_SEVERAL + 1
        self.sought = sought or places(self._given, page, several=several, beginnings=beginnings)
        self._places = self.sought.rivals
        self._meant = meant(self._given, page, self._places, request.expected)
        if len(self._meant) > _MOST_SEVERAL or self.sought.are_too_many:
            self._meant = []  # there may be more of them: all are meant, or it is not known which
        self._conflict: Conflict | None = None
        self._told: list[LineEdit] | None = None
        if not self._meant and request.expected == 1 and not self.sought.are_too_many:
            # Only of places where the very text stands can it be said that the others stand around one of them.
            rivals = [each for each in as_good(self._given, page, self._places) if is_whole(self._given, each)]
            self._told = told_apart(self._given.lines, self._new, page, [(each.start, each.end) for each in rivals])

    def effect_of(self, repaired: Repaired) -> Literal["none", "farther"] | None:
        """What a repair does at the places that were found; None if it may do anything."""
        request = repaired.request
        return effect_of(self._given, Given.for_new(request.old, request.new), self._page, self._places)

    @property
    def total(self) -> float:
        """What differs at the best place."""
        return self._places[0].total if self._places else float("inf")

    @cached_property
    def price(self) -> float:
        """What the best place costs, for comparison with other repairs of the same request."""
        if not self._places:
            return float("inf")
        is_there = self._meant or as_good(self._given, self._page, self._places)
        # Repairs may leave lines out, and what is not sought costs nothing.
        sure = sum(
            cost < CUT for cost, telling in zip(self._places[0].costs, self._given.telling, strict=True) if telling
        )
        found = self._page.lines[self._places[0].start : self._places[0].end]
        new = Counter(line for line in self._new if line.strip())
        shared = max((Counter(lines) & new).total() for lines in (self._given.lines, found))
        return self._places[0].total - _WORTH * sure - shared + self._shifts() + (0 if is_there else _NOT_THERE)

    def _shifts(self) -> int:
        """In how many ways lines are indented otherwise than they were given."""
        best = self._places[0]
        pairs = zip(self._given.lines, best.places, best.costs, strict=True)
        known = [(line, self._page.lines[at]) for line, at, cost in pairs if at is not None and cost < CUT]
        return len({len(indent_of(found)) - len(indent_of(line)) for line, found in known if line.strip()})

    @property
    def is_whole(self) -> bool:
        return bool(self._meant) and all(is_whole(self._given, alignment) for alignment in self._meant)

    def found(self) -> Found | None:
        if self._told:
            return Found(self._page.text_edits(self._told), 1, (*self.repaired.repairs, _BY_SURROUNDINGS))
        edits: list[LineEdit] = []
        try:
            for alignment in self._meant:
                check_marks(self._given, self._page, alignment)
                check_dots(self._given, self._new, self._page, alignment)
                check_meaning(self._given, self._new, self._page, alignment)
                edits += merge(self._given, self._new, self._page, alignment)
        except Conflict as conflict:
            self._conflict = conflict
            return None
        if not edits or self._is_applied:
            return None
        there = self._page.lines[self._meant[0].start : self._meant[0].end]
        if self._has_marks() or self.repaired.leaves_marks(self._asked, self._new, there):
            self._conflict = Conflict(edits[0].start, "would get the marks of a listing that new_string has")
            return None
        unmarked = next((edit for edit in edits if not self._is_marked(edit)), None)
        if unmarked is not None:
            self._conflict = Conflict(unmarked.start, "would change, and new_string does not mark it as changed")
            return None
        corrections = (*self.repaired.repairs, *overlooked(self._given, self._page, self._meant))
        return Found(self._page.text_edits(edits), len(self._meant), corrections)

    def _has_marks(self) -> bool:
        """Whether the new text has a fence around it, or signs of a diff that mean nothing else."""
        if listings.is_fenced(self._new) and not listings.is_fenced(self._given.lines):
            return True
        old = {line.strip() for line in self._given.lines if line.strip()}
        taken = {line[1:].strip() for line in self._new if line.startswith("-")}
        adds = any(line.startswith("+") for line in self._new)
        return adds and (not old.isdisjoint(taken) or not self._page.has_line_with("+"))

    def _is_marked(self, edit: LineEdit) -> bool:
        """Whether all that is written is marked as new, where the new text was taken from a diff that does so."""
        added = {line[1:].strip() for line in plain_lines(self._asked.new) if line.startswith("+")}
        written = {line.strip() for line in edit.lines if line.strip()}
        return not self.repaired.is_of_a_diff or not added or written <= added

    def refused(self) -> Refused:
        is_applied = (bool(self._meant) and self._conflict is None) or self._is_applied
        # Where the place is certain, no other one has to be shown.
        nearest = self._meant or self.sought.shown()
        return Refused(0, self._given, self._page, nearest, self._conflict, is_applied)

    @cached_property
    def _is_applied(self) -> bool:
        """Whether the new text stands in the file, where it has anything that the old one had not, and fits better."""
        new = Given(self._new)
        # What is not telling may be the end of any line.
        there = (place for each in self._meant for place in each.known(self._given.telling))
        known = {*self._given.keys, *(self._page.keys[place] for place in there)}
        if not any(telling and key not in known for telling, key in zip(new.telling, new.keys, strict=True)):
            return False
        return any(cost <= self.total for cost in costs_as_it_stands(new, self._page))


def _is_elsewhere(alignment: Alignment, start: int, end: int) -> bool:
    """Whether most lines stand at a place that has nothing to do with these: it may be the one that was meant."""
    return (alignment.end <= start or end <= alignment.start) and 2 * len(alignment.known()) > len(alignment.places)


def _lines_there(old: str, page: Page) -> int:
    """How many telling lines of the old text are in the file."""
    given = Given.of(old)
    there = [index for index, key in enumerate(given.keys) if key in page.key_set]
    return sum(is_telling(given.keys[index]) and not is_elision(given.lines[index]) for index in there)
