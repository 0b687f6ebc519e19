"""Search for the place of an edit, stage by stage.

First the exact text; then the text with listing marks and escapes repaired; then the best alignment, if it is good and
no other is nearly as good. Uncertain edits are refused with the nearest places. All stages are pure: a file and a
request in, edits or a refusal out.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.disambiguation import disambiguate_by_context
from tejat.tools.edit.match.excerpt import find_excerpt
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import is_distinctive, line_key
from tejat.tools.edit.match.search_block import SearchBlock, is_elision, split_lines
from tejat.tools.edit.merge.long_lines import edit_long_line
from tejat.tools.edit.merge.rewrap import find_rewrapped
from tejat.tools.edit.repair import listing_marks
from tejat.tools.edit.repair.line_breaks import group_escaped_breaks, join_like_groups
from tejat.tools.edit.repair.line_order import reorder_request
from tejat.tools.edit.repair.line_prefixes import with_file_prefixes
from tejat.tools.edit.repair.variants import RepairedRequest, generate_variants
from tejat.tools.edit.request import EditRequest, find_exact
from tejat.tools.edit.result import EditMatch, EditRefusal
from tejat.tools.edit.variant_fit import CONTEXT_NOTE, MAX_PLACES, VariantFit
from tejat.tools.edit.weights import FOREIGN_ESCAPE_BONUS, LISTING_BONUS, REPAIR_PENALTY
from tejat.workspace.text.text_edits import TextEdit, TextFile

MAX_SEARCHED_BYTES = 16 * 2**20
"""Larger files are searched for exact text and in excerpts only."""
MAX_BLOCK_LINES = 2_000
"""Longer blocks are searched for exactly."""
_MAX_ALIGNED_VARIANTS = 6
_MAX_EQUAL_VARIANTS = 2
"""Variants to try although they match no more lines: they may combine with a typo."""
_MAX_REJOINED_VARIANTS = 3
_LONG_BLOCK_LINES = 4
_REJOINED_NOTE = "line breaks were taken for the escapes in the file"
_ORDER_NOTE = "lines were put in the order of the file"
_PREFIX_NOTE = "the mark before each line was written as in the file"


def find_edits(file: TextFile, request: EditRequest, *, fuzzy: bool = True) -> EditMatch | EditRefusal:
    """Find the edits for a request. Without `fuzzy`, only exact text counts."""
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
        return search.disambiguate(edits) or search.refuse_count(edits)
    return search.search_fuzzy()


def _find_in_excerpt(file: TextFile, request: EditRequest) -> EditMatch | EditRefusal:
    """Search the excerpts around rare text. The number of other occurrences is unknown."""
    excerpt = find_excerpt(file, request.old) if request.expected == 1 else None
    if excerpt is None:
        return EditRefusal(0, is_too_large=True)
    found = _Search(excerpt.target, excerpt.file, request).search_fuzzy()
    if isinstance(found, EditRefusal):
        return found
    edits = excerpt.translate_edits(found.edits)
    return EditRefusal(0, is_too_large=True) if edits is None else EditMatch(edits, found.count, found.corrections)


class _Search:
    def __init__(self, target: IndexedFile, file: TextFile, request: EditRequest) -> None:
        self._target, self._file, self._request = target, file, request
        self._original = RepairedRequest.from_request(request)

    def search_fuzzy(self) -> EditMatch | EditRefusal:
        """Search with repairs, alignment, other line breaks and long lines, in this order."""
        if repaired := self.search_repaired():
            return repaired
        found = self.search_aligned()
        return self._search_unaligned(found) if isinstance(found, EditRefusal) and not found.is_applied else found

    def _search_unaligned(self, refused: EditRefusal) -> EditMatch | EditRefusal:
        """Search for text without matching lines: other line breaks, or part of a very long line."""
        place = find_rewrapped(self._request, self._target)
        if place is not None and any(_is_other_place(each, place.start, place.end) for each in refused.nearest):
            return refused
        if place is not None and not place.edits:
            return EditRefusal(0, target=self._target, rewrapped_range=(place.start, place.end))
        if place is not None and place.edits:
            return EditMatch(self._target.to_text_edits(place.edits), 1, ("overlooked: line breaks",))
        edits = edit_long_line(self._request, self._target)
        if not edits:
            return refused
        return EditMatch(self._target.to_text_edits(edits), 1, ("overlooked: a slip or white space",))

    def disambiguate(self, edits: Sequence[TextEdit], repaired: RepairedRequest | None = None) -> EditMatch | None:
        """Choose among equal places by the surrounding lines that the new text repeats."""
        repaired = repaired or self._original
        if repaired.request.expected != 1 or len(edits) > MAX_PLACES:
            return None
        ranges = [self._target.line_range(edit.start, edit.end) for edit in edits]
        old = SearchBlock.from_text(repaired.old)
        if any(self._target.keys[start:end] != old.keys for start, end in ranges):
            return None  # Part of a line is not edited this way.
        chosen = disambiguate_by_context(old.lines, repaired.respelled.new_lines, self._target, ranges)
        return EditMatch(self._target.to_text_edits(chosen), 1, (*repaired.notes, CONTEXT_NOTE)) if chosen else None

    def refuse_count(self, edits: Sequence[TextEdit]) -> EditRefusal:
        """Refuse because of the number of occurrences."""
        return EditRefusal(len(edits), target=self._target, exact_edits=edits)

    def search_repaired(self) -> EditMatch | EditRefusal | None:
        """Search for the exact text of each repaired variant. Too many occurrences end the search."""
        if self._needs_no_repair():
            return None
        several: list[TextEdit] = []
        for repaired in self._variants:
            edits = self._find_whole_lines(repaired)
            # A bracket alone identifies no place. Computing the new text is deferred until here.
            if not edits or not any(is_distinctive(line_key(line)) for line in split_lines(repaired.old)):
                continue
            if repaired.leaves_marks(self._request, split_lines(repaired.request.new), split_lines(repaired.old)):
                continue
            if repaired.request.accepts_count(len(edits)):
                return self._refuse_if_applied(repaired, edits) or EditMatch(edits, len(edits), repaired.notes)
            if found := self.disambiguate(edits, repaired):
                return found
            several = several or edits
        return self.refuse_count(several) if several else None

    def _refuse_if_applied(self, repaired: RepairedRequest, edits: Sequence[TextEdit]) -> EditRefusal | None:
        """Refuse an edit if the new text is already at its place."""
        news = self._file.find_all(repaired.request.new) if repaired.request.new.strip() else ()
        if not any(new.start <= edit.start and edit.end <= new.end for new in news for edit in edits[:1]):
            return None
        return EditRefusal(0, SearchBlock.from_text(repaired.old), self._target, is_applied=True)

    def _needs_no_repair(self) -> bool:
        """Check that all lines are in the file up to white space, or that there are elisions, which no repair finds."""
        request, block, there = self._request, self._original.block, self._target.key_set
        unknown = [line for line, key in zip(block.lines, block.keys, strict=True) if key and key not in there]
        if any(map(is_elision, unknown)):
            return True
        has_marks = listing_marks.may_have_fences(request.old) or listing_marks.has_diff_signs(request.new)
        return not unknown and not has_marks

    @cached_property
    def _variants(self) -> list[RepairedRequest]:
        found, rejoined = list(generate_variants(self._request, self._file.text)), list[RepairedRequest]()
        # Line breaks may replace escapes inside of a listing too.
        unmarked = [each for each in found if each.is_from_listing and len(each.notes) == 1]
        for repaired in [self._original, *unmarked][:_MAX_REJOINED_VARIANTS]:
            request = repaired.respelled
            lines, new = split_lines(request.old), split_lines(request.new)
            groups = group_escaped_breaks(lines, self._target)
            if len(groups) < len(lines):
                old = "\n".join("".join(group) for group in groups)
                joined = EditRequest(old, "\n".join(join_like_groups(new, groups)), request.expected)
                rejoined.append(RepairedRequest.from_request(joined, (*repaired.notes, _REJOINED_NOTE)))
        marked = with_file_prefixes(self._request, self._target)
        return [*([RepairedRequest.from_request(marked, (_PREFIX_NOTE,))] if marked else []), *rejoined, *found]

    def _find_whole_lines(self, repaired: RepairedRequest) -> list[TextEdit]:
        """Find the text as whole lines: within a line it may be truncated, which needs an alignment."""
        found = self._file.find_all(repaired.old)
        places = [place for place in found if self._target.is_whole_lines(place.start, place.end)]
        return [TextEdit(place.start, place.end, repaired.request.new) for place in places]

    def search_aligned(self) -> EditMatch | EditRefusal:
        """Find the best alignment of the request and its variants."""
        first = best = VariantFit(self._target, self._original, self._request)
        if not first.is_whole or listing_marks.has_diff_signs(self._request.new):
            for repaired, finds_more in self._promising_variants():
                if not self._cannot_improve(repaired, first, best):
                    # Without more matching lines, the variant can only match where the original does.
                    start_lines = () if finds_more else first.candidates.start_lines
                    fit = VariantFit(self._target, repaired, self._request, start_lines=start_lines)
                    best = fit if self._is_better(fit, best) else best
        return self._search_reordered(best) or best.to_match() or best.to_refusal()

    def _search_reordered(self, best: VariantFit) -> EditMatch | EditRefusal | None:
        """Search for the lines in the order of the file, if the old text has another; None if it has not."""
        order = best.find_file_order()
        if order is None:
            return None
        request = reorder_request(best.repaired.request, order)
        if request is None:
            return best.to_refusal(MergeConflict(best.start, "begins lines that old_string has in another order"))
        repaired = RepairedRequest.from_request(request, (*best.repaired.notes, _ORDER_NOTE))
        fit = VariantFit(self._target, repaired, self._request)
        return fit.to_match() or fit.to_refusal()

    def _cannot_improve(self, repaired: RepairedRequest, first: VariantFit, best: VariantFit) -> bool:
        """Check, by the changed lines alone, that a variant matches no better than the original."""
        if repaired.is_from_listing or first.total_cost < best.total_cost:
            return False
        effect = first.repair_effect(repaired)
        if effect == "none":
            return not self._is_better(VariantFit(self._target, repaired, self._request, first.candidates), best)
        return effect == "farther"

    def _is_better(self, fit: VariantFit, best: VariantFit) -> bool:
        is_farther = not fit.repaired.is_from_listing and fit.total_cost > best.total_cost
        return not is_farther and self._score(fit) < self._score(best)

    def _score(self, fit: VariantFit) -> float:
        # Each repair is a further guess and must pay off; removing listing marks is not a guess.
        repaired = fit.repaired
        price = fit.score + (-LISTING_BONUS if repaired.is_from_listing else REPAIR_PENALTY * len(repaired.notes))
        return price - (FOREIGN_ESCAPE_BONUS if repaired.unescapes_foreign(self._file.text) else 0)

    def _promising_variants(self) -> Iterator[tuple[RepairedRequest, bool]]:
        """Variants that may match better, and whether they match more lines."""
        block = self._original.block
        most = _count_known_lines(block, self._target)
        left, alike = _MAX_ALIGNED_VARIANTS, _MAX_EQUAL_VARIANTS
        # At least one line of a long block should match.
        is_long = sum(map(is_distinctive, block.keys)) >= _LONG_BLOCK_LINES
        for repaired in self._variants:
            there = _count_known_lines(repaired.block, self._target)
            is_alike = there == most and not repaired.is_from_listing
            if not left or there < most or (is_alike and not alike) or (is_long and not there):
                continue
            left, alike = left - 1, alike - is_alike
            yield repaired, not is_alike


def _is_other_place(alignment: Alignment, start: int, end: int) -> bool:
    """Check whether most lines align elsewhere, which may be the intended place."""
    is_apart = alignment.end <= start or end <= alignment.start
    return is_apart and 2 * len(alignment.matched_lines()) > len(alignment.positions)


def _count_known_lines(block: SearchBlock, target: IndexedFile) -> int:
    """Number of distinctive lines of the old text that are in the file."""
    return sum(map(target.key_set.__contains__, compress(block.keys, block.distinctive)))
