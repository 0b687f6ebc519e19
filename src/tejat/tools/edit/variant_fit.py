"""Alignment of one variant of a request with the file, and the edits that follow from it."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import Literal

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.acceptance import accept_alignments, is_whitespace_match, tied_alignments
from tejat.tools.edit.match.alignment import verbatim_costs
from tejat.tools.edit.match.candidates import Candidates, find_candidates
from tejat.tools.edit.match.disambiguation import disambiguate_by_context
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.search_block import SearchBlock, indent_of, split_lines
from tejat.tools.edit.merge.elision_guard import check_elisions
from tejat.tools.edit.merge.semantic_guard import check_same_meaning
from tejat.tools.edit.merge.three_way import three_way_merge
from tejat.tools.edit.repair import listing_marks
from tejat.tools.edit.repair.line_order import check_order, find_file_order
from tejat.tools.edit.repair.line_prefixes import check_prefixes
from tejat.tools.edit.repair.repair_effect import estimate_effect
from tejat.tools.edit.repair.variants import RepairedRequest
from tejat.tools.edit.report.correction_notes import describe_corrections
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditMatch, EditRefusal
from tejat.tools.edit.weights import KNOWN_LINE_BONUS, NOT_ACCEPTED_PENALTY

MAX_PLACES = 500
"""Limit for places to edit at once."""
CONTEXT_NOTE = "of several equal places the one was taken whose surroundings new_string repeats"


class VariantFit:
    """Alignment of one variant of the request with the file."""

    def __init__(
        self,
        target: IndexedFile,
        repaired: RepairedRequest,
        original: EditRequest,
        candidates: Candidates | None = None,
        start_lines: Sequence[int] = (),
    ) -> None:
        """`candidates` are reused if known; `start_lines` restricts the search for them."""
        self._target, self.repaired, self._original_request = target, repaired, original
        self._block = repaired.block
        most = None if repaired.expected == 1 else MAX_PLACES + 1
        self.candidates = candidates or find_candidates(self._block, target, max_places=most, start_lines=start_lines)
        self._alignments = self.candidates.alignments
        self._accepted = accept_alignments(self._block, target, self._alignments, repaired.expected)
        if len(self._accepted) > MAX_PLACES or self.candidates.is_truncated:
            self._accepted = []  # There may be more places, and it is unknown which are meant.
        self._conflict: MergeConflict | None = None
        self._disambiguated: list[LineReplacement] | None = None
        if not self._accepted and repaired.expected == 1 and not self.candidates.is_truncated:
            # Context decides only between places that match the whole block.
            tied = tied_alignments(self._block, target, self._alignments)
            ranges = [(each.start, each.end) for each in tied if is_whitespace_match(self._block, each)]
            if ranges:
                self._disambiguated = disambiguate_by_context(self._block.lines, self._new, target, ranges)

    @cached_property
    def _new(self) -> list[str]:
        return self.repaired.request.new_lines

    @property
    def start(self) -> int:
        """First line of the best alignment."""
        return self._alignments[0].start

    def find_file_order(self) -> list[int] | None:
        """Find the order in which the file has the lines of the block; None if it is the same or ambiguous."""
        if not self._alignments or self.repaired.expected != 1 or self.candidates.is_truncated:
            return None
        best, *others = self._alignments
        order = find_file_order(self._block, self._target, best)
        apart = [other for other in others if other.end <= best.start or best.end <= other.start]
        is_ambiguous = any(find_file_order(self._block, self._target, other) for other in apart)
        return None if is_ambiguous else order

    def repair_effect(self, repaired: RepairedRequest) -> Literal["none", "farther"] | None:
        """Effect of a repair on the candidates; None if unknown."""
        return estimate_effect(self._block, repaired.block, self._target, self._alignments)

    @property
    def total_cost(self) -> float:
        """Total cost of the best alignment."""
        return self._alignments[0].total_cost if self._alignments else float("inf")

    @cached_property
    def score(self) -> float:
        """Score for comparison with other variants of the same request; lower is better."""
        if not self._alignments:
            return float("inf")
        is_there = self._accepted or tied_alignments(self._block, self._target, self._alignments)
        # Variants may drop lines, and lines that are not searched for cost nothing.
        best = self._alignments[0]
        sure = sum(match.kind < MatchKind.CUT for match in compress(best.matches, self._block.distinctive))
        found = self._target.lines[best.start : best.end]
        new = Counter(line for line in self._new if line.strip())
        shared = max((Counter(lines) & new).total() for lines in (self._block.lines, found))
        penalty = 0 if is_there else NOT_ACCEPTED_PENALTY
        return best.total_cost - KNOWN_LINE_BONUS * sure - shared + self._count_indent_shifts() + penalty

    def _count_indent_shifts(self) -> int:
        """Number of different indent shifts between the block and the file."""
        best = self._alignments[0]
        lines = zip(self._block.lines, best.positions, best.matches, strict=True)
        known = [(line, at) for line, at, match in lines if at is not None and match.kind < MatchKind.CUT]
        indents = [(indent_of(line), indent_of(self._target.lines[at])) for line, at in known if line.strip()]
        return len({len(found) - len(given) for given, found in indents})

    @property
    def is_whole(self) -> bool:
        return bool(self._accepted) and all(is_whitespace_match(self._block, alignment) for alignment in self._accepted)

    def to_match(self) -> EditMatch | None:
        if self._disambiguated:
            return EditMatch(self._target.to_text_edits(self._disambiguated), 1, (*self.repaired.notes, CONTEXT_NOTE))
        edits: list[LineReplacement] = []
        try:
            for alignment in self._accepted:
                check_prefixes(self._block, self._target, alignment)
                check_elisions(self._block, self._new, self._target, alignment)
                check_same_meaning(self._block, self._new, self._target, alignment)
                check_order(self._block, self._new, self._target, alignment)
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
        """Check for a code fence or diff signs in the new text."""
        if listing_marks.is_fenced(self._new) and not listing_marks.is_fenced(self._block.lines):
            return True
        old = {line.strip() for line in self._block.lines if line.strip()}
        taken = {line[1:].strip() for line in self._new if line.startswith("-")}
        adds = any(line.startswith("+") for line in self._new)
        return adds and (not old.isdisjoint(taken) or not self._target.has_line_starting_with("+"))

    def _is_marked_as_added(self, edit: LineReplacement) -> bool:
        """Check that all written lines are marked as added, if the new text comes from a diff."""
        added = {line[1:].strip() for line in split_lines(self._original_request.new) if line.startswith("+")}
        written = {line.strip() for line in edit.lines if line.strip()}
        return not self.repaired.is_from_diff or not added or written <= added

    def to_refusal(self, conflict: MergeConflict | None = None) -> EditRefusal:
        """Refuse the edit, because of `conflict` if given, else because of the one that the merge met."""
        conflict = conflict or self._conflict
        is_applied = (bool(self._accepted) and conflict is None) or self._is_already_applied
        # If the place is certain, no other one is shown.
        nearest = self._accepted or self.candidates.nearest_for_display()
        return EditRefusal(0, self._block, self._target, nearest, conflict, is_applied)

    @cached_property
    def _is_already_applied(self) -> bool:
        """Check that the file contains the new text, which has lines of its own and matches better than the old one."""
        new = SearchBlock(self._new)
        # Lines that are not distinctive may be the end of any line.
        there = (place for each in self._accepted for place in each.matched_lines(self._block.distinctive))
        known = {*self._block.keys, *(self._target.keys[place] for place in there)}
        if known.issuperset(compress(new.keys, new.distinctive)):
            return False
        return any(cost <= self.total_cost for cost in verbatim_costs(new, self._target))
