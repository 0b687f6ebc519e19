"""Choice among equal places by the surrounding lines that the new text repeats.

The new text then replaces a whole window of lines: repeated lines stay, the others change.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.block_names import find_block_name
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.normalize import is_distinctive, line_key
from tejat.tools.edit.match.search_block import contains_in_order, indent_of
from tejat.tools.edit.weights import CHANGED_LINE_PENALTY
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_SLACK = 3
_MAX_COMPARISONS = 50_000
"""Limit for the number of new lines times places."""
_MAX_BOUNDS = 4
_MAX_RARE_COUNT = 2
_MIN_REPEATED_LINES = 3
_MIN_WORDS = 3
_WORD = re.compile(r"\w+")


def disambiguate_by_context(
    old: Sequence[str], new: Sequence[str], target: IndexedFile, ranges: Sequence[tuple[int, int]]
) -> list[LineReplacement] | None:
    """Compute the edits at the place that the new text is meant for; None if that is uncertain.

    `ranges` are the half-open line ranges of the places.
    """
    if len(new) * len(ranges) > _MAX_COMPARISONS:
        return None
    change = _Change(old, new, [line_key(line) for line in new])
    found = [window for each in ranges if (window := _ContextWindow.best(change, target, each)) is not None]
    # A line with the same indent is preferred to one with a different indent.
    found = [window for window in found if window.repeats_exactly] or found
    if not found:
        return None
    best = max(found, key=lambda window: window.score)
    # Two places may be two views of the same change.
    if any(other.score == best.score and other.edits != best.edits for other in found):
        return None
    elsewhere = {key for other in found if other.edits != best.edits for key in other.repeated_lines}
    return best.edits if best.is_unambiguous(target, elsewhere) else None


class _Change(Frozen):
    old: Sequence[str]
    new: Sequence[str]
    keys: Sequence[str]
    """Of the new lines."""

    @property
    def reach(self) -> int:
        """Maximal distance between the place and repeated lines."""
        return len(self.keys) + _SLACK


class _ContextWindow:
    """Lines around a place and the edits that turn them into the new lines."""

    def __init__(self, change: _Change, target: IndexedFile, place: tuple[int, int], start: int, end: int) -> None:
        keys = change.keys
        self._change, self._place = change, place
        changes = compute_line_edits(target.keys[start:end], keys)
        gone = {line for each in changes for line in range(start + each.old_start, start + each.old_end)}
        around = [line for line in range(start, end) if not place[0] <= line < place[1]]
        self.loses_lines = any(target.keys[line] for line in around if line in gone)
        # Lines of the place itself say nothing about its context.
        more = Counter(filter(is_distinctive, keys)) - Counter(target.keys[place[0] : place[1]])
        known = [line for line in around if line not in gone and target.keys[line] in more]
        self.repeated_lines = {target.keys[line]: target.lines[line] for line in known}
        kept = list(_kept_lines(start, end, changes))
        new = _reindent(change, target, place, [each for each in kept if not place[0] <= each[0] < place[1]])
        self.is_indented = new is not None
        new = change.new if new is None else new
        self._is_around = any(line < place[0] for line in known) and any(line >= place[1] for line in known)
        distinctive = (target.lines[line].rstrip() for line in around if is_distinctive(target.keys[line]))
        self.repeats_exactly = {line.rstrip() for line in new}.issuperset(distinctive)
        self.score = sum(line not in gone for line in around) - CHANGED_LINE_PENALTY * sum(map(_edit_size, changes))
        edits = [
            LineReplacement(start + each.old_start, start + each.old_end, tuple(new[each.new_start : each.new_end]))
            for each in changes
        ]
        edits += _whitespace_edits(new, target, place, kept)
        self.edits = sorted(edits, key=lambda edit: (edit.start, edit.end))
        # If nothing replaces the place, the surrounding lines may be meant as its replacement.
        self.only_deletes = gone.issuperset(range(*place)) and not any(edit.lines for edit in self.edits)

    def is_unambiguous(self, target: IndexedFile, elsewhere: Collection[str]) -> bool:
        """Check that the repeated lines identify this place and are not meant to be added elsewhere.

        They are on both sides, or one of them is rare, informative and near no other place, or there are several.
        """
        if self._duplicates_neighbor(target):
            return False
        own = [key for key in self.repeated_lines if key not in elsewhere and target.keys.count(key) <= _MAX_RARE_COUNT]
        is_informative = any(_is_informative(self.repeated_lines[key]) for key in own)
        says_enough = is_informative or len(self.repeated_lines) >= _MIN_REPEATED_LINES
        return self._is_around or (bool(own) and says_enough)

    def _duplicates_neighbor(self, target: IndexedFile) -> bool:
        """Check whether the first or last new line is added although it is nearby: more was meant to stay."""
        added = {line_key(line) for edit in self.edits for line in edit.lines}
        distinctive, reach, (start, end) = [*filter(is_distinctive, self._change.keys)], self._change.reach, self._place
        above, below = target.keys[max(start - reach, 0) : start], target.keys[end : end + reach]
        beside = [*((key, above) for key in distinctive[:1]), *((key, below) for key in distinctive[-1:])]
        return any(key in added and key in near for key, near in beside)

    @classmethod
    def best(cls, change: _Change, target: IndexedFile, place: tuple[int, int]) -> "_ContextWindow | None":
        """Find the window of which the new lines repeat most; None if lines are lost in all of them."""
        keys, reach = change.keys, change.reach
        above, below = target.keys[max(place[0] - reach, 0) : place[0]], target.keys[place[1] : place[1] + reach]
        if not any(key in keys and is_distinctive(key) for key in (*above, *below)):
            return None
        before = range(place[0] - 1, max(place[0] - reach, 0) - 1, -1)
        behind = range(place[1], min(place[1] + reach, len(target.keys)))
        windows = [
            cls(change, target, place, start, end)
            for start in _window_bounds(keys[0], target, before, place[0])
            for end in _window_bounds(keys[-1], target, behind, place[1] - 1)
            if _keeps_context(keys, target, place, start, end)
        ]
        whole = [
            window
            for window in windows
            if window.repeated_lines and window.is_indented and not window.loses_lines and not window.only_deletes
        ]
        return max(whole, key=lambda window: window.score, default=None)


def _keeps_context(keys: Sequence[str], target: IndexedFile, place: tuple[int, int], start: int, end: int) -> bool:
    """Check that there are lines around the place, and that the new lines contain all of them in order."""
    around = [key for key in (*target.keys[start : place[0]], *target.keys[place[1] : end]) if key]
    return bool(around) and contains_in_order(keys, around)


def _is_informative(line: str) -> bool:
    return len(_WORD.findall(line)) >= _MIN_WORDS or bool(find_block_name(line))


def _edit_size(change: DiffEdit) -> int:
    return change.old_end - change.old_start + change.new_end - change.new_start


def _kept_lines(start: int, end: int, changes: Sequence[DiffEdit]) -> Iterator[tuple[int, int]]:
    """Pairs of kept file lines and new lines."""
    at, shift = start, -start
    for change in changes:
        yield from ((line, line + shift) for line in range(at, start + change.old_start))
        at, shift = start + change.old_end, change.new_end - change.old_end - start
    yield from ((line, line + shift) for line in range(at, end))


def _whitespace_edits(
    new: Sequence[str], target: IndexedFile, place: tuple[int, int], kept: Sequence[tuple[int, int]]
) -> Iterator[LineReplacement]:
    """Edits of lines of the place in which only white space changes."""
    for line, at in kept:
        if place[0] <= line < place[1] and new[at].rstrip() != target.lines[line].rstrip():
            yield LineReplacement(line, line + 1, (new[at],))


def _reindent(
    change: _Change, target: IndexedFile, place: tuple[int, int], kept: Sequence[tuple[int, int]]
) -> Sequence[str] | None:
    """Indent the new lines as in the file; None if the common lines are inconsistent.

    `kept` are pairs of kept lines around the place and new lines. A text may start inside of a line, after its indent.
    """
    given = [(change.new, at, line) for line, at in kept]
    given += [(change.old, *each) for each in enumerate(range(*place))]
    lacking = [
        (_missing_indent(text[at], target.lines[line]), not at and not indent_of(text[0]))
        for text, at, line in given
        if at < len(text) and text[at].strip() and line_key(text[at]) == target.keys[line]
    ]
    if any(each is None for each, _ in lacking):
        return None
    known = {each for each, is_bare in lacking if not is_bare and each is not None}
    every = {each for each, _ in lacking if each is not None}
    rest = [line for line in change.new[1:] if line.strip()]
    if known == {""} or (not known and all(line.startswith(min(every, key=len, default="")) for line in rest)):
        # The first line is placed where the old one starts.
        before = _missing_indent(change.old[0], target.lines[place[0]]) if not indent_of(change.old[0]) else ""
        return [(before or "") + change.new[0], *change.new[1:]] if change.new[0].strip() else change.new
    if len(every) > 1:
        return None
    shift = every.pop()
    return [shift + line if line.strip() else line for line in change.new]


def _missing_indent(line: str, found: str) -> str | None:
    """Missing part of the indent; None if the indents are incompatible."""
    indent, whole = indent_of(line), indent_of(found)
    return whole[: len(whole) - len(indent)] if whole.endswith(indent) else None


def _window_bounds(key: str, target: IndexedFile, lines: range, own: int) -> Iterator[int]:
    """Possible bounds of the window: the place itself, or a line equal to the first or last new one."""
    is_start = lines.step < 0
    yield own if is_start else own + 1
    found = (line for line in lines if target.keys[line] == key)
    for line, _ in zip(found, range(_MAX_BOUNDS), strict=False):
        yield line if is_start else line + 1
