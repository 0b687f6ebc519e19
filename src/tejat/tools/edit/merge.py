"""Merges three ways: what was thought to be there, what is there, and what is to be there.

What the change leaves alone stays as it is found; only what it changes is written. Where both differ at the same place
nobody knows what is right, and the change is refused.
"""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.base import base_of, with_blank_lines
from tejat.tools.edit.folding import key_of, operators_of, words_of
from tejat.tools.edit.given import Given, holds, indent_of, is_elision
from tejat.tools.edit.indentation import Indentation
from tejat.tools.edit.likeness import CUT, ELIDED, ESCAPED, SLIP, is_near
from tejat.tools.edit.page import LineEdit, Page
from tejat.tools.edit.pairs import STALE
from tejat.tools.edit.spelling import learned_slips, learned_spelling
from tejat.tools.edit.word_merge import escaped_signs, merged_line
from tejat.workspace.line_edits import Edit, line_edits

_ALIKE = 0.4
"""The part of its words that a line keeps when it is changed and not replaced."""
_MOST_PAIRED = 2_500
_SEPARATOR = ","


class Conflict(Exception):
    """The change cannot be made with certainty; `line` of the file is why, counted from 0."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def merge(
    given: Given, new: Sequence[str], page: Page, alignment: Alignment, *, is_confirmed: bool = False
) -> list[LineEdit]:
    """The edits that make the change from `given` to `new` where `alignment` found it. Raises Conflict.

    None are left if the file is as the change wants it. `is_confirmed` means that somebody knows this to be the place,
    so that a line may differ by more than a slip if the change leaves alone what differs.
    """
    edits = _Merge(given, new, page, alignment, is_confirmed=is_confirmed).edits()
    return [edit for edit in edits if list(edit.lines) != list(page.lines[edit.start : edit.end])]


class _Merge:
    def __init__(
        self, given: Given, new: Sequence[str], page: Page, alignment: Alignment, *, is_confirmed: bool
    ) -> None:
        given, alignment = with_blank_lines(given, new, page, alignment)
        self._given, self._page, self._alignment, self._is_confirmed = given, page, alignment, is_confirmed
        known = [
            (given.lines[index], page.lines[place], alignment.costs[index])
            for index, place in enumerate(alignment.places)
            if place is not None
        ]
        spell = learned_spelling([(line, found) for line, found, cost in known if cost < CUT])
        mend = learned_slips([(line, found) for line, found, cost in known if SLIP <= cost < STALE], page.has_word)
        self._escaped = {
            sign
            for line, found, cost in known
            if cost == ESCAPED
            for sign in escaped_signs(line.strip(), found.strip())
        }
        self._new = [mend(spell(line)) for line in new]
        self._old = base_of(Given([mend(spell(line)) for line in given.lines]), self._new, page, alignment)
        around = page.around(alignment.start, alignment.end)
        self._old = old = self._without_stray_indents(around)
        pairs = list(self._pairs_of_lines().values())
        staying = self._first_that_stays()
        if staying is not None and self._is_moved_anew(*staying):
            raise Conflict(staying[1], "is indented neither as old_string nor as new_string has it")
        self._indentation = Indentation(pairs, [*old.lines, *self._new], around)

    def _pairs_of_lines(self) -> dict[int, tuple[str, str]]:
        """Lines as they were thought to be and as they are."""
        costs = self._alignment.costs
        return {
            index: (self._old.lines[index], self._page.lines[place])
            for index, place in enumerate(self._alignment.places)
            if place is not None and costs[index] < STALE and not self._is_cut(index, place)
        }

    def _without_stray_indents(self, around: Sequence[str]) -> Given:
        """The old lines; one that is moved alone, to where the file has it, is taken as the new text has it."""
        pairs, counts = self._pairs_of_lines(), Counter(line.strip() for line in self._new)
        new = {bare: line for line in self._new if counts[bare := line.strip()] == 1 and bare}
        staying = {index: new[bare] for index, (line, _) in pairs.items() if (bare := line.strip()) in new}
        moved = [index for index, line in staying.items() if indent_of(line) != indent_of(pairs[index][0])]
        if len(moved) != 1 or len(staying) == 1:
            return self._old
        others = [pair for index, pair in pairs.items() if index != moved[0]]
        known = Indentation(others, [*self._old.lines, *self._new], around)
        line, found = staying[moved[0]], pairs[moved[0]][1]
        if known.of(indent_of(line)) != indent_of(found):
            return self._old
        return Given([line if index == moved[0] else old for index, old in enumerate(self._old.lines)])

    def _first_that_stays(self) -> tuple[int, int] | None:
        """The first given line that the file and the new text have too, each in its own indent; where it stands."""
        new = Counter(line.strip() for line in self._new)
        for index, place in enumerate(self._alignment.places):
            bare = self._given.lines[index].strip()
            if bare and place is not None and new[bare] == 1 and self._page.lines[place].strip() == bare:
                return index, place
        return None

    def _is_moved_anew(self, index: int, place: int) -> bool:
        """Whether a line that stays has another indent in each text, and none of the new ones has that of the old text.

        Then nobody knows which one is meant.
        """
        old, found, lines = (
            self._given.lines[index],
            self._page.lines[place],
            [line for line in self._new if line.strip()],
        )
        new = next(line for line in lines if line.strip() == old.strip())
        is_wrapped = new != lines[0] and indent_of(self._given.lines[self._given.first]) in map(indent_of, lines)
        return not is_wrapped and len({indent_of(line) for line in (old, found, new)}) == 3

    def _is_cut(self, index: int, place: int) -> bool:
        """Whether the line lacks its beginning, so that nothing can be told from its indent."""
        return index == self._old.first and key_of(self._old.lines[index])[:1] != self._page.keys[place][:1]

    def edits(self) -> list[LineEdit]:
        alike = set(self._old.lines).intersection(self._new)
        if all(self._alignment.places[index] is not None for index, dots in enumerate(self._old.elisions) if dots):
            # The dots are in the file.
            alike.update(line for line in (*self._old.lines, *self._new) if is_elision(line))
        return [self._settled(edit) for edit in line_edits(_plain(self._old.lines, alike), _plain(self._new, alike))]

    def _settled(self, edit: Edit) -> LineEdit:
        old, new = self._old.lines[edit.old_start : edit.old_end], self._new[edit.new_start : edit.new_end]
        if any("".join(new).count(sign) > "".join(old).count(sign) for sign in self._escaped):
            reason = (
                "begins a stretch that is escaped in another way than old_string is, so that new lines may have to be"
            )
            raise Conflict(self._alignment.start, reason)
        if self._has_as_many_blank_lines(edit):
            return LineEdit(self._alignment.start, self._alignment.start, ())
        if any(map(str.strip, new)):
            self._check_separator(edit.old_start - 1)
        placed = [
            (index, place) for index in range(edit.old_start, edit.old_end) if (place := self._place(index)) is not None
        ]
        if not placed:
            return self._inserted(edit, new)
        start, end = placed[0][1], placed[-1][1] + 1
        taken = {place for _, place in placed}
        for line in range(start, end):
            if line not in taken and self._page.keys[line]:
                raise Conflict(line, "stands amid the lines to be replaced, and old_string lacks it")
        lines = self._replaced(placed, new)
        self._check_forgotten(edit, start, end)
        before, behind = self._blank_lines_around(edit, start, end)
        start -= min(before, max(_blank_at(lines) - _blank_at(old), 0))
        end += min(behind, max(_blank_at(lines[::-1]) - _blank_at(old[::-1]), 0))
        return LineEdit(start, end, tuple(lines))

    def _check_separator(self, index: int) -> None:
        """Raises Conflict if the line before new ones lacks the comma that it was thought to have."""
        place = self._alignment.places[index] if index >= 0 else None
        if place is None or not self._given.keys[index].endswith(_SEPARATOR):
            return
        # A comment may stand behind it in the file.
        if self._page.keys[place].count(_SEPARATOR) < self._given.keys[index].count(_SEPARATOR):
            raise Conflict(place, "lacks the comma that it needs before new lines")

    def _check_forgotten(self, edit: Edit, start: int, end: int) -> None:
        """Raises Conflict if the file has a line next to the replaced ones that comes as a new one as well."""
        above, below = self._above(edit), self._below(edit)
        beside = [*range(start if above is None else above, start), *range(end, end if below is None else below)]
        new = {key_of(line) for line in self._new[edit.new_start : edit.new_end]}
        for line in beside:
            if self._page.keys[line] and self._page.keys[line] in new:
                raise Conflict(line, "is there already, and old_string lacks it")

    def _has_as_many_blank_lines(self, edit: Edit) -> bool:
        """Whether only the number of blank lines between two lines changes, and the file has that number already."""
        old, new = self._old.lines, self._new
        if any(map(str.strip, (*old[edit.old_start : edit.old_end], *new[edit.new_start : edit.new_end]))):
            return False
        behind = edit.new_end + _blank_at(new[edit.new_end :])
        wanted = behind - edit.new_start + _blank_at(new[: edit.new_start][::-1])
        first = edit.old_start - _blank_at(old[: edit.old_start][::-1]) - 1
        last = edit.old_end + _blank_at(old[edit.old_end :])
        if first < 0 or last == len(old):
            return False
        above, below = self._end(first), self._start(last)
        return (
            above is not None
            and below is not None
            and below - above == wanted
            and not any(self._page.keys[above:below])
        )

    def _blank_lines_around(self, edit: Edit, start: int, end: int) -> tuple[int, int]:
        """How many blank lines the old text lacks before and behind the place; new ones are meant to be these."""
        above, below = self._above(edit), self._below(edit)
        above, below = start if above is None else above, end if below is None else below
        return _blank_at(self._page.lines[above:start][::-1]), _blank_at(self._page.lines[end:below])

    def _place(self, index: int) -> int | None:
        """Where a line that is to be replaced stands. Raises Conflict if it is not there; a blank line may be gone."""
        place = self._alignment.places[index]
        if place is None and self._old.keys[index]:
            near = next((at for at in self._alignment.places[index:] if at is not None), self._alignment.end)
            if self._old.elisions[index]:
                raise Conflict(near, "stands where lines were left out that would be replaced")
            raise Conflict(near, "stands where a line should be that is to be replaced and is not there")
        return place

    # --- lines that replace others ---

    def _replaced(self, placed: Sequence[tuple[int, int]], new: Sequence[str]) -> list[str]:
        page, costs = self._page, self._alignment.costs
        turned = dict(_pairs([self._old.lines[index] for index, _ in placed], new))
        becomes = {pair: turn for turn, pair in turned.items()}
        for turn, (index, place) in enumerate(placed):
            if turn not in turned and not self._may_go(index, place):
                raise Conflict(place, "is to be replaced and differs from old_string")
        lines: list[str] = []
        for at, line in enumerate(new):
            turn = becomes.get(at)
            if turn is None:
                like = placed[at] if len(placed) == len(new) else None
                lines.append(self._like(line, *like) if like else self._indented(line, placed[0][1]))
                continue
            index, place = placed[turn]
            lines.append(self._changed(self._old.lines[index], page.lines[place], line, place, costs[index]))
        return lines

    def _may_go(self, index: int, place: int) -> bool:
        old, found = self._given.lines[index], self._page.lines[place]
        return self._alignment.costs[index] < CUT or (is_near(old, found) and operators_of(old) == operators_of(found))

    def _changed(self, old: str, found: str, new: str, place: int, cost: float) -> str:
        is_known = cost < SLIP or cost == ELIDED or is_near(old, found) or key_of(new) == key_of(found)
        if not is_known and not self._is_confirmed:
            raise Conflict(place, "is to be changed and is not what old_string says")
        body = merged_line(old.lstrip(" \t"), found.lstrip(" \t"), new.lstrip(" \t"))
        if body is None:
            raise Conflict(place, "is to be changed and is not what old_string says")
        if not body.strip():
            return body
        if indent_of(new) == indent_of(old):
            return indent_of(found) + body
        is_stray = (len(indent_of(new)) - len(indent_of(old))) % 2 and "\t" not in indent_of(new)
        if indent_of(new) == indent_of(found) and is_stray:
            # A stray space in the old line, and the new one is right.
            return indent_of(found) + body
        return self._indent(indent_of(new), place) + body

    def _like(self, line: str, index: int, place: int) -> str:
        """A line that takes the place of another one, indented like that if it was thought to be."""
        if line.strip() and indent_of(line) == indent_of(self._old.lines[index]):
            return indent_of(self._page.lines[place]) + line.lstrip(" \t")
        return self._indented(line, place)

    def _indented(self, line: str, place: int) -> str:
        if not line.strip() or self._indentation.is_same:
            return line
        return self._indent(indent_of(line), place) + line.lstrip(" \t")

    def _indent(self, indent: str, place: int) -> str:
        written = self._indentation.of(indent)
        if written is None:
            raise Conflict(place, "is indented in a way that does not tell how the new lines have to be")
        return written

    # --- lines that are put between others ---

    def _inserted(self, edit: Edit, new: Sequence[str]) -> LineEdit:
        start, end = self._gap(edit)
        lacks_blank = (
            edit.old_start and not self._old.keys[edit.old_start - 1] and self._end(edit.old_start - 1) is None
        )
        if lacks_blank and any(self._page.keys[end : end + 1]):
            raise Conflict(end, "stands where a blank line should be, behind which new lines would go")
        lines = tuple(self._beside(edit, line) or self._indented(line, start) for line in new)
        between = self._page.keys[start:end]
        if not between or not lines:
            return LineEdit(start, start, lines)
        keys = [key_of(line) for line in lines]
        if holds(keys, between):
            return LineEdit(start, end, lines)
        if not any(between):
            if self._is_blank(edit.old_end) != self._is_blank(edit.old_start - 1):
                # There are more blank lines than was thought, on that side.
                at = start if self._is_blank(edit.old_end) else end
                return LineEdit(at, at, lines)
            above, below = self._page.lines[start - 1] if start else "", "".join(self._page.lines[end : end + 1])
            indents = {indent_of(line) for line in lines if line.strip()}
            if (indent_of(above) in indents) != (indent_of(below) in indents):
                at = start if indent_of(above) in indents else end
                return LineEdit(at, at, lines)
        raise Conflict(start, "stands where new lines would go, and old_string lacks it")

    def _beside(self, edit: Edit, line: str) -> str | None:
        """A new line next to one of the same kind and depth, indented as that is in the file."""
        for index in (edit.old_start - 1, edit.old_end):
            if not 0 <= index < len(self._old.lines) or not line.strip():
                continue
            old, place = self._old.lines[index], self._alignment.places[index]
            if place is not None and indent_of(old) == indent_of(line) and old.strip()[:1] == line.strip()[:1]:
                return indent_of(self._page.lines[place]) + line.lstrip(" \t")
        return None

    def _is_blank(self, index: int) -> bool:
        return 0 <= index < len(self._old.keys) and not self._old.keys[index]

    def _gap(self, edit: Edit) -> tuple[int, int]:
        """The lines of the file between the ones before and behind the place: none if all is as it was thought."""
        before, behind = self._above(edit), self._below(edit)
        if before is None and behind is None:
            raise Conflict(self._alignment.start, "is not where the new lines would go")
        start = before if before is not None else behind or 0
        return start, behind if behind is not None and before is not None else start

    def _above(self, edit: Edit) -> int | None:
        """Where the last line ends that is there and stands before the edit."""
        ends = map(self._end, range(edit.old_start - 1, -1, -1))
        return next((end for end in ends if end is not None), None)

    def _below(self, edit: Edit) -> int | None:
        """Where the first line begins that is there and stands behind the edit."""
        starts = map(self._start, range(edit.old_end, len(self._old.lines)))
        return next((start for start in starts if start is not None), None)

    def _start(self, index: int) -> int | None:
        return self._alignment.elided[index][0] if index in self._alignment.elided else self._alignment.places[index]

    def _end(self, index: int) -> int | None:
        if index in self._alignment.elided:
            return self._alignment.elided[index][1]
        place = self._alignment.places[index]
        return None if place is None else place + 1


def _plain(lines: Sequence[str], alike: "set[str]") -> list[str]:
    """The lines for telling what a change changes: white space at the end is none, and dots are dots.

    Those that are alike on both sides are kept as they are, so that they meet each other and no one else.
    """
    return [line if line in alike else "..." if is_elision(line) else line.rstrip() for line in lines]


def _blank_at(lines: Sequence[str]) -> int:
    """How many of the first lines are blank."""
    return next((index for index, line in enumerate(lines) if line.strip()), len(lines))


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which old line becomes which new one: in order, those that keep most of their words."""
    if not old or not new or len(old) * len(new) > _MOST_PAIRED:
        return []
    old_words, new_words = [Counter(words_of(line)) for line in old], [Counter(words_of(line)) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for left in range(len(old) - 1, -1, -1):
        for right in range(len(new) - 1, -1, -1):
            alike = _likeness(old_words[left], new_words[right])
            paired = best[left + 1][right + 1] + alike if alike >= _ALIKE else 0.0
            best[left][right] = max(paired, best[left + 1][right], best[left][right + 1])
    pairs: list[tuple[int, int]] = []
    left = right = 0
    while left < len(old) and right < len(new):
        if best[left][right] == best[left + 1][right]:
            left += 1
        elif best[left][right] == best[left][right + 1]:
            right += 1
        else:
            pairs.append((left, right))
            left, right = left + 1, right + 1
    return pairs


def _likeness(left: "Counter[str]", right: "Counter[str]") -> float:
    together = left.total() + right.total()
    return 2 * (left & right).total() / together if together else 0.0
