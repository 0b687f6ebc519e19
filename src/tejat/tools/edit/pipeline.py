"""Finds what an edit means and what has to be written there: the stages, one after the other.

First the text as it was given; then with marks and escapes left out that were never part of the file; then the place
that it fits best, if it fits well and no other fits nearly as well. What is not certain is refused, with the places
that come nearest. All of it is pure: a file and a request in, edits or a refusal out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from tejat.core.frozen import frozen
from tejat.tools.edit.match.acceptance import accept_alignments, is_whitespace_match, tied_alignments
from tejat.tools.edit.match.alignment import LineAlignment, verbatim_costs
from tejat.tools.edit.match.candidates import Candidates, find_candidates
from tejat.tools.edit.match.disambiguation import disambiguate_by_context
from tejat.tools.edit.match.excerpt import find_excerpt
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.line_cost import CUT
from tejat.tools.edit.match.normalize import is_distinctive, normalize_line
from tejat.tools.edit.match.search_block import SearchBlock, indent_of, is_elision, split_lines
from tejat.tools.edit.merge.elision_guard import check_elisions
from tejat.tools.edit.merge.long_lines import edit_long_line
from tejat.tools.edit.merge.rewrap import find_rewrapped
from tejat.tools.edit.merge.semantic_guard import check_same_meaning
from tejat.tools.edit.merge.three_way import MergeConflict, three_way_merge
from tejat.tools.edit.repair import listing_marks as listings
from tejat.tools.edit.repair.line_breaks import group_escaped_breaks, join_like_groups
from tejat.tools.edit.repair.line_prefixes import check_prefixes, with_file_prefixes
from tejat.tools.edit.repair.repair_effect import estimate_effect
from tejat.tools.edit.repair.variants import RepairedRequest, generate_variants
from tejat.tools.edit.report.correction_notes import describe_corrections
from tejat.tools.edit.request import EditRequest, find_exact
from tejat.workspace.text.text_edits import TextEdit, TextFile

MAX_SEARCHED_BYTES = 16 * 2**20
"""Bytes of a file that is searched as a whole for more than the text as it was given."""
MAX_BLOCK_LINES = 2_000
"""Lines of a text that is sought so."""
_MAX_PLACES = 500
_MAX_ALIGNED_VARIANTS = 6
_MAX_EQUAL_VARIANTS = 2
"""Repairs that are tried though they find no more lines: these may have a slip besides."""
_MAX_REJOINED_VARIANTS = 3
_LONG_BLOCK_LINES = 4
_NOT_ACCEPTED_PENALTY = 10_000
_LISTING_BONUS = 10
_FOREIGN_ESCAPE_BONUS = 3
_KNOWN_LINE_BONUS = 6
"""What a telling line that is found is worth, when one repair is compared with another."""
_REJOINED_NOTE = "line breaks were taken for the escapes in the file"
_PREFIX_NOTE = "the mark before each line was written as in the file"
_CONTEXT_NOTE = "of several equal places the one was taken whose surroundings new_string repeats"


@frozen
class EditMatch:
    """The edits to make, in how many places, and how the request was corrected: not at all if it was right."""

    edits: list[TextEdit]
    count: int
    corrections: tuple[str, ...] = ()


@frozen
class EditRefusal:
    """Why there is no edit. `count` is how many places there are where the text stands as it was given: `exact`.

    `given` are the lines that were sought, `nearest` the places that come nearest to them, best first; `conflict` says
    what was in the way at the first of them. `is_applied` means that the file looks like the new text already.
    `rewrapped` are the lines, from the first up to the one behind the last, that hold the text with other line breaks.
    """

    count: int = 0
    block: SearchBlock | None = None
    target: IndexedFile | None = None
    nearest_alignments: Sequence[LineAlignment] = ()
    conflict: MergeConflict | None = None
    is_already_applied: bool = False
    is_too_large: bool = False
    exact_edits: Sequence[TextEdit] = ()
    rewrapped_range: tuple[int, int] | None = None


def find_edits(file: TextFile, request: EditRequest, *, fuzzy: bool = True) -> EditMatch | EditRefusal:
    """Without `closely` only the text as it was given is looked for."""
    edits = find_exact(file, request)
    if request.accepts_count(len(edits)):
        return EditMatch(edits, len(edits))
    if not fuzzy or not request.old.strip():
        return EditRefusal(len(edits))
    if max(map(request.old.count, "\n\r")) > MAX_BLOCK_LINES or (edits and len(file.raw) > MAX_SEARCHED_BYTES):
        return EditRefusal(len(edits), is_too_large=True)
    if len(file.raw) > MAX_SEARCHED_BYTES:
        return _find_in_excerpt(file, request)
    search = _Search(IndexedFile(file), file, request)
    if edits:
        return search.disambiguate(edits, RepairedRequest.from_request(request)) or search.refuse_count(edits)
    return search.search_fuzzy()


def _find_in_excerpt(file: TextFile, request: EditRequest) -> EditMatch | EditRefusal:
    """Looks only where something rare of the text stands. How often it stands elsewhere is not known."""
    excerpt = find_excerpt(file, request.old) if request.expected == 1 else None
    if excerpt is None:
        return EditRefusal(0, is_too_large=True)
    search = _Search(excerpt.target, excerpt.file, request)
    found = search.search_fuzzy()
    if isinstance(found, EditRefusal):
        return found
    edits = excerpt.translate_edits(found.edits)
    return EditRefusal(0, is_too_large=True) if edits is None else EditMatch(edits, found.count, found.corrections)


class _Search:
    def __init__(self, page: IndexedFile, file: TextFile, request: EditRequest) -> None:
        self._target, self._file, self._request = page, file, request

    def search_fuzzy(self) -> EditMatch | EditRefusal:
        """The text as it stands in the file, whatever differs."""
        repaired = self.search_repaired()
        if repaired is not None:
            return repaired
        found = self.search_aligned()
        return (
            self._search_unaligned(found) if isinstance(found, EditRefusal) and not found.is_already_applied else found
        )

    def _search_unaligned(self, refused: EditRefusal) -> EditMatch | EditRefusal:
        """Text that has no lines in common with the file: it is broken in another way, or part of a very long one."""
        place = find_rewrapped(self._request, self._target)
        if place is not None and any(
            _is_other_place(each, place.start, place.end) for each in refused.nearest_alignments
        ):
            return refused
        if place is not None and not place.edits:
            return EditRefusal(0, target=self._target, rewrapped_range=(place.start, place.end))
        if place is not None and place.edits:
            return EditMatch(self._target.to_text_edits(place.edits), 1, ("overlooked: line breaks",))
        edits = edit_long_line(self._request, self._target)
        return (
            EditMatch(self._target.to_text_edits(edits), 1, ("overlooked: a slip or white space",))
            if edits
            else refused
        )

    def disambiguate(self, edits: Sequence[TextEdit], repaired: RepairedRequest) -> EditMatch | None:
        """The one of several equal places around which the lines stand that the new text repeats."""
        if repaired.request.expected != 1 or len(edits) > _MAX_PLACES:
            return None
        ranges = [self._target.line_range(edit.start, edit.end) for edit in edits]
        old = SearchBlock.from_text(repaired.old)
        if any(self._target.keys[start:end] != old.keys for start, end in ranges):
            return None  # what stands in the same line is not to be changed
        told = disambiguate_by_context(old.lines, repaired.request.new_lines, self._target, ranges)
        return EditMatch(self._target.to_text_edits(told), 1, (*repaired.notes, _CONTEXT_NOTE)) if told else None

    def refuse_count(self, edits: Sequence[TextEdit]) -> EditRefusal:
        """What was found as it was given, but not as often as expected."""
        return EditRefusal(len(edits), target=self._target, exact_edits=edits)

    def search_repaired(self) -> EditMatch | EditRefusal | None:
        """The text as it stands in the file once it is repaired. Where it stands too often, no other way is sought."""
        if self._needs_no_repair():
            return None
        several: list[TextEdit] = []
        for repaired in self._variants:
            edits = self._find_whole_lines(repaired)
            # What becomes of the new text is not worked out in vain. A bracket alone tells no place.
            if not edits or not any(is_distinctive(normalize_line(line)) for line in split_lines(repaired.old)):
                continue
            if repaired.leaves_marks(self._request, split_lines(repaired.request.new), split_lines(repaired.old)):
                continue
            if repaired.request.accepts_count(len(edits)):
                return self._refuse_if_applied(repaired, edits) or EditMatch(edits, len(edits), repaired.notes)
            found = self.disambiguate(edits, repaired)
            if found is not None:
                return found
            several = several or edits
        return self.refuse_count(several) if several else None

    def _refuse_if_applied(self, repaired: RepairedRequest, edits: Sequence[TextEdit]) -> EditRefusal | None:
        """The refusal of an edit at whose place the whole new text stands already."""
        news = self._file.find_all(repaired.request.new) if repaired.request.new.strip() else ()
        if not any(new.start <= edit.start and edit.end <= new.end for new in news for edit in edits[:1]):
            return None
        return EditRefusal(0, SearchBlock.from_text(repaired.old), self._target, is_already_applied=True)

    def _needs_no_repair(self) -> bool:
        """Whether every line is in the file but for white space, or some are dots, which are in no file."""
        request, there = self._request, self._target.key_set
        lines = split_lines(request.old)
        strange = [line for line in lines if (key := normalize_line(line)) and key not in there]
        if any(map(is_elision, strange)):
            return True
        has_marks = listings.may_have_fences(request.old) or listings.has_diff_signs(request.new)
        return not strange and not has_marks

    @cached_property
    def _variants(self) -> list[RepairedRequest]:
        found, rejoined = list(generate_variants(self._request, self._file.text)), list[RepairedRequest]()
        # Line breaks may have been taken for their escapes within the marks of a listing too.
        unmarked = [each for each in found if each.is_from_listing and len(each.notes) == 1]
        for repaired in [RepairedRequest.from_request(self._request), *unmarked][:_MAX_REJOINED_VARIANTS]:
            request = repaired.request
            lines, new = split_lines(request.old), split_lines(request.new)
            groups = group_escaped_breaks(lines, self._target)
            if len(groups) < len(lines):
                old = "\n".join("".join(group) for group in groups)
                joined = EditRequest(old, "\n".join(join_like_groups(new, groups)), request.expected)
                rejoined.append(RepairedRequest.from_request(joined, (*repaired.notes, _REJOINED_NOTE)))
        marked = with_file_prefixes(self._request, self._target)
        return [*([RepairedRequest.from_request(marked, (_PREFIX_NOTE,))] if marked else []), *rejoined, *found]

    def _find_whole_lines(self, repaired: RepairedRequest) -> list[TextEdit]:
        """Where the text stands as whole lines: amid one it may be cut short, and then more than this is needed."""
        places = [
            each for each in self._file.find_all(repaired.old) if self._target.is_whole_lines(each.start, each.end)
        ]
        return [TextEdit(place.start, place.end, repaired.request.new) for place in places]

    def search_aligned(self) -> EditMatch | EditRefusal:
        """The place that the text fits best, as it was given or repaired."""
        first = best = _VariantFit(self._target, RepairedRequest.from_request(self._request), self._request)
        if not first.is_whole or listings.has_diff_signs(self._request.new):
            for repaired, finds_more in self._promising_variants():
                if not self._cannot_improve(repaired, first, best):
                    # What finds no more lines can only stand where the text itself may.
                    beginnings = () if finds_more else first.candidates.start_lines
                    fit = _VariantFit(self._target, repaired, self._request, beginnings=beginnings)
                    best = fit if self._is_better(fit, best) else best
        return best.to_match() or best.to_refusal()

    def _cannot_improve(self, repaired: RepairedRequest, first: "_VariantFit", best: "_VariantFit") -> bool:
        """Whether a repair fits no better than the text as it was given, as far as the lines tell that it changes."""
        effect = (
            None if repaired.is_from_listing or first.total_cost < best.total_cost else first.repair_effect(repaired)
        )
        if effect == "none":
            return not self._is_better(_VariantFit(self._target, repaired, self._request, first.candidates), best)
        return effect == "farther"

    def _is_better(self, fit: "_VariantFit", best: "_VariantFit") -> bool:
        is_farther = not fit.repaired.is_from_listing and fit.total_cost > best.total_cost
        return not is_farther and self._score(fit) < self._score(best)

    def _score(self, fit: "_VariantFit") -> float:
        # Each repair is a further guess, so it has to be worth it; marks of a listing are none.
        price = fit.score + (-_LISTING_BONUS if fit.repaired.is_from_listing else 2 * len(fit.repaired.notes))
        return price - (_FOREIGN_ESCAPE_BONUS if fit.repaired.unescapes_foreign(self._file.text) else 0)

    def _promising_variants(self) -> Iterator[tuple[RepairedRequest, bool]]:
        """Repairs that may bring the text nearer to the file, and whether more lines are there then."""
        most = _count_known_lines(self._request.old, self._target)
        left, alike = _MAX_ALIGNED_VARIANTS, _MAX_EQUAL_VARIANTS
        # Of several lines, one at least should be there.
        is_long = sum(map(is_distinctive, map(normalize_line, split_lines(self._request.old)))) >= _LONG_BLOCK_LINES
        for repaired in self._variants:
            there = _count_known_lines(repaired.old, self._target)
            is_alike = there == most and not repaired.is_from_listing
            if not left or there < most or (is_alike and not alike) or (is_long and not there):
                continue
            left, alike = left - 1, alike - is_alike
            yield repaired, not is_alike


class _VariantFit:
    """A request laid along the file."""

    def __init__(
        self,
        page: IndexedFile,
        repaired: RepairedRequest,
        asked: EditRequest,
        sought: Candidates | None = None,
        beginnings: Sequence[int] = (),
    ) -> None:
        """`sought` are its places where they are known already, `beginnings` where they are looked for alone."""
        self._target, self.repaired, self._original_request = page, repaired, asked
        request = repaired.request
        self._block = SearchBlock.for_edit(request.old, request.new)
        self._new = request.new_lines
        several = None if request.expected == 1 else _MAX_PLACES + 1
        self.candidates = sought or find_candidates(self._block, page, max_places=several, start_lines=beginnings)
        self._alignments = self.candidates.alignments
        self._accepted = accept_alignments(self._block, page, self._alignments, request.expected)
        if len(self._accepted) > _MAX_PLACES or self.candidates.is_truncated:
            self._accepted = []  # there may be more of them: all are meant, or it is not known which
        self._conflict: MergeConflict | None = None
        self._disambiguated: list[LineReplacement] | None = None
        if not self._accepted and request.expected == 1 and not self.candidates.is_truncated:
            # Only of places where the very text stands can it be said that the others stand around one of them.
            rivals = [
                each
                for each in tied_alignments(self._block, page, self._alignments)
                if is_whitespace_match(self._block, each)
            ]
            self._disambiguated = disambiguate_by_context(
                self._block.lines, self._new, page, [(each.start, each.end) for each in rivals]
            )

    def repair_effect(self, repaired: RepairedRequest) -> Literal["none", "farther"] | None:
        """What a repair does at the places that were found; None if it may do anything."""
        request = repaired.request
        return estimate_effect(
            self._block, SearchBlock.for_edit(request.old, request.new), self._target, self._alignments
        )

    @property
    def total_cost(self) -> float:
        """What differs at the best place."""
        return self._alignments[0].total_cost if self._alignments else float("inf")

    @cached_property
    def score(self) -> float:
        """What the best place costs, for comparison with other repairs of the same request."""
        if not self._alignments:
            return float("inf")
        is_there = self._accepted or tied_alignments(self._block, self._target, self._alignments)
        # Repairs may leave lines out, and what is not sought costs nothing.
        sure = sum(
            cost < CUT
            for cost, telling in zip(self._alignments[0].costs, self._block.distinctive, strict=True)
            if telling
        )
        found = self._target.lines[self._alignments[0].start : self._alignments[0].end]
        new = Counter(line for line in self._new if line.strip())
        shared = max((Counter(lines) & new).total() for lines in (self._block.lines, found))
        return (
            self._alignments[0].total_cost
            - _KNOWN_LINE_BONUS * sure
            - shared
            + self._count_indent_shifts()
            + (0 if is_there else _NOT_ACCEPTED_PENALTY)
        )

    def _count_indent_shifts(self) -> int:
        """In how many ways lines are indented otherwise than they were given."""
        best = self._alignments[0]
        pairs = zip(self._block.lines, best.positions, best.costs, strict=True)
        known = [(line, self._target.lines[at]) for line, at, cost in pairs if at is not None and cost < CUT]
        return len({len(indent_of(found)) - len(indent_of(line)) for line, found in known if line.strip()})

    @property
    def is_whole(self) -> bool:
        return bool(self._accepted) and all(is_whitespace_match(self._block, alignment) for alignment in self._accepted)

    def to_match(self) -> EditMatch | None:
        if self._disambiguated:
            return EditMatch(self._target.to_text_edits(self._disambiguated), 1, (*self.repaired.notes, _CONTEXT_NOTE))
        edits: list[LineReplacement] = []
        try:
            for alignment in self._accepted:
                check_prefixes(self._block, self._target, alignment)
                check_elisions(self._block, self._new, self._target, alignment)
                check_same_meaning(self._block, self._new, self._target, alignment)
                edits += three_way_merge(self._block, self._new, self._target, alignment)
        except MergeConflict as conflict:
            self._conflict = conflict
            return None
        if not edits or self._is_already_applied:
            return None
        there = self._target.lines[self._accepted[0].start : self._accepted[0].end]
        if self._new_has_listing_marks() or self.repaired.leaves_marks(self._original_request, self._new, there):
            self._conflict = MergeConflict(edits[0].start, "would get the marks of a listing that new_string has")
            return None
        unmarked = next((edit for edit in edits if not self._is_marked_as_added(edit)), None)
        if unmarked is not None:
            self._conflict = MergeConflict(unmarked.start, "would change, and new_string does not mark it as changed")
            return None
        corrections = (*self.repaired.notes, *describe_corrections(self._block, self._target, self._accepted))
        return EditMatch(self._target.to_text_edits(edits), len(self._accepted), corrections)

    def _new_has_listing_marks(self) -> bool:
        """Whether the new text has a fence around it, or signs of a diff that mean nothing else."""
        if listings.is_fenced(self._new) and not listings.is_fenced(self._block.lines):
            return True
        old = {line.strip() for line in self._block.lines if line.strip()}
        taken = {line[1:].strip() for line in self._new if line.startswith("-")}
        adds = any(line.startswith("+") for line in self._new)
        return adds and (not old.isdisjoint(taken) or not self._target.has_line_starting_with("+"))

    def _is_marked_as_added(self, edit: LineReplacement) -> bool:
        """Whether all that is written is marked as new, where the new text was taken from a diff that does so."""
        added = {line[1:].strip() for line in split_lines(self._original_request.new) if line.startswith("+")}
        written = {line.strip() for line in edit.lines if line.strip()}
        return not self.repaired.is_from_diff or not added or written <= added

    def to_refusal(self) -> EditRefusal:
        is_applied = (bool(self._accepted) and self._conflict is None) or self._is_already_applied
        # Where the place is certain, no other one has to be shown.
        nearest = self._accepted or self.candidates.nearest_for_display()
        return EditRefusal(0, self._block, self._target, nearest, self._conflict, is_applied)

    @cached_property
    def _is_already_applied(self) -> bool:
        """Whether the new text stands in the file, where it has anything that the old one had not, and fits better."""
        new = SearchBlock(self._new)
        # What is not telling may be the end of any line.
        there = (place for each in self._accepted for place in each.matched_lines(self._block.distinctive))
        known = {*self._block.keys, *(self._target.keys[place] for place in there)}
        if not any(telling and key not in known for telling, key in zip(new.distinctive, new.keys, strict=True)):
            return False
        return any(cost <= self.total_cost for cost in verbatim_costs(new, self._target))


def _is_other_place(alignment: LineAlignment, start: int, end: int) -> bool:
    """Whether most lines stand at a place that has nothing to do with these: it may be the one that was meant."""
    return (alignment.end <= start or end <= alignment.start) and 2 * len(alignment.matched_lines()) > len(
        alignment.positions
    )


def _count_known_lines(old: str, page: IndexedFile) -> int:
    """How many telling lines of the old text are in the file."""
    given = SearchBlock.from_text(old)
    there = [index for index, key in enumerate(given.keys) if key in page.key_set]
    return sum(is_distinctive(given.keys[index]) and not is_elision(given.lines[index]) for index in there)
