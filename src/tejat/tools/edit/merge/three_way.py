"""Three-way merge of the text that was assumed, the text in the file and the new text.

Unchanged parts stay as they are in the file; only changes are written. If both sides differ at the same place, the edit
is refused.
"""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.line_comparer import is_similar
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.normalize import find_operators, line_key
from tejat.tools.edit.match.search_block import (
    SearchBlock,
    contains_in_order,
    count_leading_blank,
    indent_of,
    is_elision,
)
from tejat.tools.edit.merge.indentation import IndentMap
from tejat.tools.edit.merge.merge_base import align_blank_lines, find_merge_base
from tejat.tools.edit.merge.similar_lines import pair_similar_lines
from tejat.tools.edit.merge.spelling_rules import learn_spelling, learn_typos
from tejat.tools.edit.merge.word_merge import escaped_signs, merge_line
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_SEPARATOR = ","


def three_way_merge(
    block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment, *, is_confirmed: bool = False
) -> list[LineReplacement]:
    """Compute the edits for the change from `block` to `new` at the alignment. Raises MergeConflict.

    The result is empty if the file already is as wanted. `is_confirmed` allows lines to differ by more than a typo
    where the change does not touch the difference.
    """
    edits = _ThreeWayMerge(block, new, target, alignment, is_confirmed=is_confirmed).edits()
    return [edit for edit in edits if list(edit.lines) != list(target.lines[edit.start : edit.end])]


class _ThreeWayMerge:
    def __init__(
        self, block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment, *, is_confirmed: bool
    ) -> None:
        block, alignment = align_blank_lines(block, new, target, alignment)
        self._block, self._target, self._alignment, self._is_confirmed = block, target, alignment, is_confirmed
        known = [
            (block.lines[index], target.lines[place], alignment.matches[index].kind)
            for index, place in enumerate(alignment.positions)
            if place is not None
        ]
        spell = learn_spelling([(line, found) for line, found, kind in known if kind < MatchKind.CUT])
        inexact = [(line, found) for line, found, kind in known if MatchKind.CUT < kind < MatchKind.REWORDED]
        mend = learn_typos(inexact, target.has_word)
        self._escaped_signs = {
            sign
            for line, found, kind in known
            if kind is MatchKind.ESCAPED
            for sign in escaped_signs(line.strip(), found.strip())
        }
        self._new = [mend(spell(line)) for line in new]
        mended = SearchBlock([mend(spell(line)) for line in block.lines])
        self._old = find_merge_base(mended, self._new, target, alignment)
        around = target.context_lines(alignment.start, alignment.end)
        self._old = old = self._fix_stray_indents(around)
        pairs = list(self._paired_lines().values())
        staying = self._first_kept_line()
        if staying is not None and self._has_three_indents(*staying):
            raise MergeConflict(staying[1], "is indented neither as old_string nor as new_string has it")
        self._indentation = IndentMap(pairs, [*old.lines, *self._new], around)

    def _paired_lines(self) -> dict[int, tuple[str, str]]:
        """Matching lines of the merge base and the file."""
        matches = self._alignment.matches
        return {
            index: (self._old.lines[index], self._target.lines[place])
            for index, place in enumerate(self._alignment.positions)
            if place is not None and matches[index].is_known and not self._is_cut(index, place)
        }

    def _fix_stray_indents(self, around: Sequence[str]) -> SearchBlock:
        """Use the new text's version of a single line whose indent it corrects to that of the file."""
        pairs, counts = self._paired_lines(), Counter(line.strip() for line in self._new)
        new = {bare: line for line in self._new if counts[bare := line.strip()] == 1 and bare}
        staying = {index: new[bare] for index, (line, _) in pairs.items() if (bare := line.strip()) in new}
        moved = [index for index, line in staying.items() if indent_of(line) != indent_of(pairs[index][0])]
        if len(moved) != 1 or len(staying) == 1:
            return self._old
        others = [pair for index, pair in pairs.items() if index != moved[0]]
        known = IndentMap(others, [*self._old.lines, *self._new], around)
        line, found = staying[moved[0]], pairs[moved[0]][1]
        if known.map_indent(indent_of(line)) != indent_of(found):
            return self._old
        return SearchBlock([line if index == moved[0] else old for index, old in enumerate(self._old.lines)])

    def _first_kept_line(self) -> tuple[int, int] | None:
        """First line that the block, the file and the new text have in common, whatever its indent."""
        new = Counter(line.strip() for line in self._new)
        for index, place in enumerate(self._alignment.positions):
            bare = self._block.lines[index].strip()
            if bare and place is not None and new[bare] == 1 and self._target.lines[place].strip() == bare:
                return index, place
        return None

    def _has_three_indents(self, index: int, place: int) -> bool:
        """Check whether a kept line has a different indent in all three texts, so that the intended one is unknown."""
        old, found = self._block.lines[index], self._target.lines[place]
        lines = [line for line in self._new if line.strip()]
        new = next(line for line in lines if line.strip() == old.strip())
        first = self._block.lines[self._block.first_nonblank]
        is_wrapped = new != lines[0] and indent_of(first) in map(indent_of, lines)
        return not is_wrapped and len({indent_of(line) for line in (old, found, new)}) == 3

    def _is_cut(self, index: int, place: int) -> bool:
        """Check whether the line is cut at its start, so that its indent says nothing."""
        return index == self._old.first_nonblank and self._old.keys[index][:1] != self._target.keys[place][:1]

    def edits(self) -> list[LineReplacement]:
        alike = set(self._old.lines).intersection(self._new)
        if all(self._alignment.positions[index] is not None for index, dots in enumerate(self._old.elisions) if dots):
            # The dots are in the file.
            alike.update(line for line in (*self._old.lines, *self._new) if is_elision(line))
        old, new = _comparable_lines(self._old.lines, alike), _comparable_lines(self._new, alike)
        return [self._resolve(edit) for edit in compute_line_edits(old, new)]

    def _resolve(self, edit: DiffEdit) -> LineReplacement:
        old, new = self._old.lines[edit.old_start : edit.old_end], self._new[edit.new_start : edit.new_end]
        if any("".join(new).count(sign) > "".join(old).count(sign) for sign in self._escaped_signs):
            reason = "begins a stretch that is escaped in another way than old_string is"
            raise MergeConflict(self._alignment.start, f"{reason}, so that new lines may have to be")
        if self._has_wanted_blank_lines(edit):
            return LineReplacement(self._alignment.start, self._alignment.start, ())
        if any(map(str.strip, new)):
            self._check_separator(edit.old_start - 1)
        replaced = range(edit.old_start, edit.old_end)
        placed = [(index, place) for index in replaced if (place := self._replaced_position(index)) is not None]
        if not placed:
            return self._insert_lines(edit, new)
        start, end = placed[0][1], placed[-1][1] + 1
        taken = {place for _, place in placed}
        for line in range(start, end):
            if line not in taken and self._target.keys[line]:
                raise MergeConflict(line, "stands amid the lines to be replaced, and old_string lacks it")
        lines = self._replace_lines(placed, new)
        self._check_duplicate_neighbor(edit, start, end)
        before, behind = self._count_blank_lines_around(edit, start, end)
        start -= min(before, max(count_leading_blank(lines) - count_leading_blank(old), 0))
        end += min(behind, max(count_leading_blank(lines[::-1]) - count_leading_blank(old[::-1]), 0))
        return LineReplacement(start, end, tuple(lines))

    def _check_separator(self, index: int) -> None:
        """Raise MergeConflict if the line before new ones lacks the comma it was assumed to have."""
        place = self._alignment.positions[index] if index >= 0 else None
        if place is None or not self._block.keys[index].endswith(_SEPARATOR):
            return
        # A comment may follow the comma in the file.
        if self._target.keys[place].count(_SEPARATOR) < self._block.keys[index].count(_SEPARATOR):
            raise MergeConflict(place, "lacks the comma that it needs before new lines")

    def _check_duplicate_neighbor(self, edit: DiffEdit, start: int, end: int) -> None:
        """Raise MergeConflict if a line next to the replaced ones is also among the new ones."""
        above, below = self._end_above(edit), self._start_below(edit)
        beside = [*range(start if above is None else above, start), *range(end, end if below is None else below)]
        new = {line_key(line) for line in self._new[edit.new_start : edit.new_end]}
        for line in beside:
            if self._target.keys[line] and self._target.keys[line] in new:
                raise MergeConflict(line, "is there already, and old_string lacks it")

    def _has_wanted_blank_lines(self, edit: DiffEdit) -> bool:
        """Check whether only the number of blank lines changes, and the file has that number already."""
        old, new = self._old.lines, self._new
        if any(map(str.strip, (*old[edit.old_start : edit.old_end], *new[edit.new_start : edit.new_end]))):
            return False
        behind = edit.new_end + count_leading_blank(new[edit.new_end :])
        wanted = behind - edit.new_start + count_leading_blank(new[: edit.new_start][::-1])
        first = edit.old_start - count_leading_blank(old[: edit.old_start][::-1]) - 1
        last = edit.old_end + count_leading_blank(old[edit.old_end :])
        if first < 0 or last == len(old):
            return False
        above, below = self._end(first), self._start(last)
        if above is None or below is None:
            return False
        return below - above == wanted and not any(self._target.keys[above:below])

    def _count_blank_lines_around(self, edit: DiffEdit, start: int, end: int) -> tuple[int, int]:
        """Count the blank lines around the place that the old text lacks; new blank lines replace them."""
        above, below = self._end_above(edit), self._start_below(edit)
        before = self._target.lines[start if above is None else above : start]
        behind = self._target.lines[end : end if below is None else below]
        return count_leading_blank(before[::-1]), count_leading_blank(behind)

    def _replaced_position(self, index: int) -> int | None:
        """Position of a line to be replaced, None for a missing blank line.

        Raises MergeConflict for other missing lines.
        """
        place = self._alignment.positions[index]
        if place is None and self._old.keys[index]:
            near = next((at for at in self._alignment.positions[index:] if at is not None), self._alignment.end)
            if self._old.elisions[index]:
                raise MergeConflict(near, "stands where lines were left out that would be replaced")
            raise MergeConflict(near, "stands where a line should be that is to be replaced and is not there")
        return place

    # --- replaced lines ---

    def _replace_lines(self, placed: Sequence[tuple[int, int]], new: Sequence[str]) -> list[str]:
        target, matches = self._target, self._alignment.matches
        turned = dict(pair_similar_lines([self._old.lines[index] for index, _ in placed], new))
        becomes = {pair: turn for turn, pair in turned.items()}
        for turn, (index, place) in enumerate(placed):
            if turn not in turned and not self._may_delete(index, place):
                raise MergeConflict(place, "is to be replaced and differs from old_string")
        lines: list[str] = []
        for at, line in enumerate(new):
            turn = becomes.get(at)
            if turn is None:
                like = placed[at] if len(placed) == len(new) else None
                lines.append(self._indent_like(line, *like) if like else self._reindent(line, placed[0][1]))
                continue
            index, place = placed[turn]
            old, found = self._old.lines[index], target.lines[place]
            lines.append(self._change_line(old, found, line, place, matches[index].kind))
        return lines

    def _may_delete(self, index: int, place: int) -> bool:
        old, found = self._block.lines[index], self._target.lines[place]
        return self._alignment.matches[index].kind < MatchKind.CUT or (
            is_similar(old, found) and find_operators(old) == find_operators(found)
        )

    def _change_line(self, old: str, found: str, new: str, place: int, kind: MatchKind) -> str:
        is_known = kind <= MatchKind.ELIDED_END or is_similar(old, found) or line_key(new) == line_key(found)
        may_differ = is_known or self._is_confirmed
        body = merge_line(old.lstrip(" \t"), found.lstrip(" \t"), new.lstrip(" \t")) if may_differ else None
        if body is None:
            raise MergeConflict(place, "is to be changed and is not what old_string says")
        if not body.strip():
            return body
        # A stray space in the old line may be corrected in the new one.
        is_stray = (len(indent_of(new)) - len(indent_of(old))) % 2 and "\t" not in indent_of(new)
        if indent_of(new) == indent_of(old) or (indent_of(new) == indent_of(found) and is_stray):
            return indent_of(found) + body
        return self._map_indent(indent_of(new), place) + body

    def _indent_like(self, line: str, index: int, place: int) -> str:
        """Indent a replacement like the line it replaces, if both had the same indent."""
        if line.strip() and indent_of(line) == indent_of(self._old.lines[index]):
            return indent_of(self._target.lines[place]) + line.lstrip(" \t")
        return self._reindent(line, place)

    def _reindent(self, line: str, place: int) -> str:
        if not line.strip() or self._indentation.is_identity:
            return line
        return self._map_indent(indent_of(line), place) + line.lstrip(" \t")

    def _map_indent(self, indent: str, place: int) -> str:
        written = self._indentation.map_indent(indent)
        if written is None:
            raise MergeConflict(place, "is indented in a way that does not tell how the new lines have to be")
        return written

    # --- inserted lines ---

    def _insert_lines(self, edit: DiffEdit, new: Sequence[str]) -> LineReplacement:
        start, end = self._gap(edit)
        lacks_blank = self._is_blank(edit.old_start - 1) and self._end(edit.old_start - 1) is None
        if lacks_blank and any(self._target.keys[end : end + 1]):
            raise MergeConflict(end, "stands where a blank line should be, behind which new lines would go")
        lines = tuple(self._indent_like_neighbor(edit, line) or self._reindent(line, start) for line in new)
        between = self._target.keys[start:end]
        if not between or not lines:
            return LineReplacement(start, start, lines)
        keys = [line_key(line) for line in lines]
        if contains_in_order(keys, between):
            return LineReplacement(start, end, lines)
        if not any(between):
            if self._is_blank(edit.old_end) != self._is_blank(edit.old_start - 1):
                # The file has more blank lines on that side.
                at = start if self._is_blank(edit.old_end) else end
                return LineReplacement(at, at, lines)
            above, below = self._target.lines[start - 1] if start else "", "".join(self._target.lines[end : end + 1])
            indents = {indent_of(line) for line in lines if line.strip()}
            if (indent_of(above) in indents) != (indent_of(below) in indents):
                at = start if indent_of(above) in indents else end
                return LineReplacement(at, at, lines)
        raise MergeConflict(start, "stands where new lines would go, and old_string lacks it")

    def _indent_like_neighbor(self, edit: DiffEdit, line: str) -> str | None:
        """Indent a new line like an adjacent one of the same kind and depth."""
        for index in (edit.old_start - 1, edit.old_end):
            if not 0 <= index < len(self._old.lines) or not line.strip():
                continue
            old, place = self._old.lines[index], self._alignment.positions[index]
            if place is not None and indent_of(old) == indent_of(line) and old.strip()[:1] == line.strip()[:1]:
                return indent_of(self._target.lines[place]) + line.lstrip(" \t")
        return None

    def _is_blank(self, index: int) -> bool:
        return 0 <= index < len(self._old.keys) and not self._old.keys[index]

    def _gap(self, edit: DiffEdit) -> tuple[int, int]:
        """Lines of the file between the neighbors of the edit; empty if the file is as assumed."""
        before, behind = self._end_above(edit), self._start_below(edit)
        if before is None and behind is None:
            raise MergeConflict(self._alignment.start, "is not where the new lines would go")
        start = before if before is not None else behind or 0
        return start, behind if behind is not None and before is not None else start

    def _end_above(self, edit: DiffEdit) -> int | None:
        """End of the last matching line above the edit."""
        ends = map(self._end, range(edit.old_start - 1, -1, -1))
        return next((end for end in ends if end is not None), None)

    def _start_below(self, edit: DiffEdit) -> int | None:
        """Start of the first matching line below the edit."""
        starts = map(self._start, range(edit.old_end, len(self._old.lines)))
        return next((start for start in starts if start is not None), None)

    def _start(self, index: int) -> int | None:
        return self._alignment.elided[index][0] if index in self._alignment.elided else self._alignment.positions[index]

    def _end(self, index: int) -> int | None:
        if index in self._alignment.elided:
            return self._alignment.elided[index][1]
        place = self._alignment.positions[index]
        return None if place is None else place + 1


def _comparable_lines(lines: Sequence[str], alike: "set[str]") -> list[str]:
    """Lines for computing the change: trailing white space is ignored and all elisions are equal.

    Lines that occur on both sides are kept as they are, so that they match only each other.
    """
    return [line if line in alike else "..." if is_elision(line) else line.rstrip() for line in lines]
