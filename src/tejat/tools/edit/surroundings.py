"""Tells equal places apart by the lines around them, where the new text repeats those.

The new text then is the whole of a stretch of lines: what it repeats stays as it is, and the rest is what changes.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from tejat.core.value import value
from tejat.tools.edit.block_names import block_name
from tejat.tools.edit.folding import is_telling, key_of
from tejat.tools.edit.given import holds, indent_of
from tejat.tools.edit.page import LineEdit, Page
from tejat.workspace.line_edits import Edit, line_edits

_SLACK = 3
_MOST_COMPARED = 50_000
"""New lines times places: beyond that it would take seconds."""
_MOST_ENDS = 4
_RARE = 2
_SEVERAL = 3
_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")


def told_apart(
    old: Sequence[str], new: Sequence[str], page: Page, ranges: Sequence[tuple[int, int]]
) -> list[LineEdit] | None:
    """The edits that make the new lines of the stretch that they are meant for; None if it is not clear which it is.

    `ranges` are the lines of the places where the old ones stand, from the first up to the one behind the last.
    """
    if len(new) * len(ranges) > _MOST_COMPARED:
        return None
    change = _Change(old, new, [key_of(line) for line in new])
    found = [stretch for each in ranges if (stretch := _Stretch.best(change, page, each)) is not None]
    # A line that is indented in another way is not the same line, if there is one that is.
    found = [stretch for stretch in found if stretch.repeats_exactly] or found
    if not found:
        return None
    best = max(found, key=lambda stretch: stretch.worth)
    # Two places may be two views of one change.
    if any(other.worth == best.worth and other.edits != best.edits for other in found):
        return None
    elsewhere = {key for other in found if other.edits != best.edits for key in other.repeated}
    return best.edits if best.is_beyond_doubt(page, elsewhere) else None


@value
class _Change:
    old: Sequence[str]
    new: Sequence[str]
    keys: Sequence[str]
    """Of the new lines."""

    @property
    def reach(self) -> int:
        """How far from the place the lines may stand that the new ones repeat."""
        return len(self.keys) + _SLACK


class _Stretch:
    """Lines of the file around a place, and what the new lines make of them."""

    def __init__(self, change: _Change, page: Page, place: tuple[int, int], start: int, end: int) -> None:
        keys = change.keys
        self._change, self._place = change, place
        changes = line_edits(page.keys[start:end], keys)
        gone = {line for each in changes for line in range(start + each.old_start, start + each.old_end)}
        around = [line for line in range(start, end) if not place[0] <= line < place[1]]
        self.loses_any = any(page.keys[line] for line in around if line in gone)
        # What the place itself has is no sign of what is around it.
        more = Counter(keys) - Counter(page.keys[place[0] : place[1]])
        known = [
            line for line in around if line not in gone and is_telling(page.keys[line]) and page.keys[line] in more
        ]
        self.repeated = {page.keys[line]: page.lines[line] for line in known}
        kept = list(_kept(start, end, changes))
        new = _indented(change, page, place, [each for each in kept if not place[0] <= each[0] < place[1]])
        self.is_indented = new is not None
        new = change.new if new is None else new
        self._is_around = any(line < place[0] for line in known) and any(line >= place[1] for line in known)
        self.repeats_exactly = {page.lines[line].rstrip() for line in around if is_telling(page.keys[line])} <= {
            line.rstrip() for line in new
        }
        self.worth = sum(line not in gone for line in around) - 2 * sum(map(_size, changes))
        self.edits = sorted(
            [
                *(
                    LineEdit(start + each.old_start, start + each.old_end, tuple(new[each.new_start : each.new_end]))
                    for each in changes
                ),
                *_rewritten(new, page, place, kept),
            ],
            key=lambda edit: (edit.start, edit.end),
        )
        # Where nothing comes in its place, the lines around it could as well be what was to replace it.
        self.is_emptied = gone.issuperset(range(*place)) and not any(edit.lines for edit in self.edits)

    def is_beyond_doubt(self, page: Page, elsewhere: Collection[str]) -> bool:
        """Whether the lines around it are there because it is the place, and are not what is to be added to another.

        They stand on both sides, or one of them is around no other place, rare, and says more than a word or two; or
        there are several.
        """
        if self._comes_twice(page):
            return False
        own = [key for key in self.repeated if key not in elsewhere and page.keys.count(key) <= _RARE]
        says_enough = len(self.repeated) >= _SEVERAL or any(_says_something(self.repeated[key]) for key in own)
        return self._is_around or (bool(own) and says_enough)

    def _comes_twice(self, page: Page) -> bool:
        """Whether the first or last new line is added though it stands near on that side: more was meant to stay."""
        added = {key_of(line) for edit in self.edits for line in edit.lines}
        telling, reach, (start, end) = [*filter(is_telling, self._change.keys)], self._change.reach, self._place
        above, below = page.keys[max(start - reach, 0) : start], page.keys[end : end + reach]
        return any(key in added and key in above for key in telling[:1]) or any(
            key in added and key in below for key in telling[-1:]
        )

    @classmethod
    def best(cls, change: _Change, page: Page, place: tuple[int, int]) -> "_Stretch | None":
        """The stretch around the place of which the new lines repeat most; None if they always lose some of it."""
        keys, reach = change.keys, change.reach
        above, below = page.keys[max(place[0] - reach, 0) : place[0]], page.keys[place[1] : place[1] + reach]
        if not any(key in keys and is_telling(key) for key in (*above, *below)):
            return None
        stretches = [
            cls(change, page, place, start, end)
            for start in _nearest(keys[0], page, range(place[0] - 1, max(place[0] - reach, 0) - 1, -1), place[0])
            for end in _nearest(keys[-1], page, range(place[1], min(place[1] + reach, len(page.keys))), place[1] - 1)
            if _may_stay(keys, page, place, start, end)
        ]
        whole = [
            stretch
            for stretch in stretches
            if stretch.repeated and stretch.is_indented and not stretch.loses_any and not stretch.is_emptied
        ]
        return max(whole, key=lambda stretch: stretch.worth, default=None)


def _may_stay(keys: Sequence[str], page: Page, place: tuple[int, int], start: int, end: int) -> bool:
    """Whether there is anything around the place, and the new lines have all of it in its order."""
    around = [key for key in (*page.keys[start : place[0]], *page.keys[place[1] : end]) if key]
    return bool(around) and holds(keys, around)


def _says_something(line: str) -> bool:
    return len(_WORD.findall(line)) >= _FEWEST_WORDS or bool(block_name(line))


def _size(change: Edit) -> int:
    return change.old_end - change.old_start + change.new_end - change.new_start


def _kept(start: int, end: int, changes: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """The lines of the file that the changes leave, and which of the new ones each of them is."""
    at, shift = start, -start
    for change in changes:
        yield from ((line, line + shift) for line in range(at, start + change.old_start))
        at, shift = start + change.old_end, change.new_end - change.old_end - start
    yield from ((line, line + shift) for line in range(at, end))


def _rewritten(
    new: Sequence[str], page: Page, place: tuple[int, int], kept: Sequence[tuple[int, int]]
) -> Iterator[LineEdit]:
    """Lines of the place itself of which only the white space changes."""
    for line, at in kept:
        if place[0] <= line < place[1] and new[at].rstrip() != page.lines[line].rstrip():
            yield LineEdit(line, line + 1, (new[at],))


def _indented(
    change: _Change, page: Page, place: tuple[int, int], kept: Sequence[tuple[int, int]]
) -> Sequence[str] | None:
    """The new lines indented as they have to be in the file; None if the lines that it has too do not tell.

    `kept` are the lines around the place that stay, and which of the new ones each of them is. Each text may begin
    amid a line, behind its indent; its first line tells nothing then.
    """
    given = [
        *((change.new, at, line) for line, at in kept),
        *((change.old, *each) for each in enumerate(range(*place))),
    ]
    lacking = [
        (_lacking(text[at], page.lines[line]), not at and not indent_of(text[0]))
        for text, at, line in given
        if at < len(text) and text[at].strip() and key_of(text[at]) == page.keys[line]
    ]
    if any(each is None for each, _ in lacking):
        return None
    known = {each for each, is_bare in lacking if not is_bare and each is not None}
    every = {each for each, _ in lacking if each is not None}
    rest = [line for line in change.new[1:] if line.strip()]
    if known == {""} or (not known and all(line.startswith(min(every, key=len, default="")) for line in rest)):
        # The first line is put where the old one begins.
        before = _lacking(change.old[0], page.lines[place[0]]) if not indent_of(change.old[0]) else ""
        return [(before or "") + change.new[0], *change.new[1:]] if change.new[0].strip() else change.new
    if len(every) > 1:
        return None
    shift = every.pop()
    return [shift + line if line.strip() else line for line in change.new]


def _lacking(line: str, found: str) -> str | None:
    """What a line lacks of the indent that it has in the file; None if its own indent is another."""
    indent, whole = indent_of(line), indent_of(found)
    return whole[: len(whole) - len(indent)] if whole.endswith(indent) else None


def _nearest(key: str, page: Page, lines: range, own: int) -> Iterator[int]:
    """Where the stretch could begin or end: at the place itself, or at a line that is the first or last new one."""
    is_start = lines.step < 0
    yield own if is_start else own + 1
    found = (line for line in lines if page.keys[line] == key)
    for line, _ in zip(found, range(_MOST_ENDS), strict=False):
        yield line if is_start else line + 1
