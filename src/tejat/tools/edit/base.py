"""Which text the new one was written over: the old one as it was given, or the one that is in the file.

Models often write the old text from memory and the new one as it should be. A line that the new text has as the file
has it was never meant to be changed, however it was given.
"""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.alignment import STALE, Alignment
from tejat.tools.edit.folding import digits_of, key_of, operators_of, words_of
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import ESCAPED
from tejat.tools.edit.page import Page
from tejat.workspace.line_edits import line_edits


def base_of(given: Given, new: Sequence[str], page: Page, alignment: Alignment) -> Given:
    """The old lines that the new ones have to be compared with."""
    found = [None if place is None else page.lines[place] for place in alignment.places]
    is_as_found = _is_as_found(given.lines, [line for line in found if line is not None], new)
    by_key = {key_of(line): line for line in new}
    lines: list[str] = []
    for index, (old, there) in enumerate(zip(given.lines, found, strict=True)):
        if there is None or old == there:
            lines.append(old)
        elif alignment.costs[index] < ESCAPED:
            lines.append(there if is_as_found else old)
        elif given.keys[index] in by_key:
            # The new text has the same slip, so it leaves the line alone, whatever its white space is.
            lines.append(by_key[given.keys[index]])
        elif key_of(there) in by_key:
            lines.append(by_key[key_of(there)])
        else:
            is_found_meant = alignment.costs[index] < STALE and _has_its_words(old, there, new)
            # The words as they were given, but the white space as the new text has it.
            reindented = indent_of(there) + old.lstrip(" \t") if is_as_found else old
            lines.append(there if is_found_meant else reindented)
    return Given(lines)


def with_blank_lines(given: Given, new: Sequence[str], page: Page, alignment: Alignment) -> tuple[Given, Alignment]:
    """The same lines and places, with the blank lines of the file if the new text was written over those."""
    keys = [key_of(line) for line in new]
    if _changes(page.keys[alignment.start : alignment.end], keys) >= _changes(given.keys, keys):
        return given, alignment
    lines, places, costs = list[str](), list[int | None](), list[float]()
    elided: dict[int, tuple[int, int]] = {}
    end: int | None = None
    for index, place in enumerate(alignment.places):
        if place is None and not given.keys[index]:
            continue
        if index in alignment.elided:
            elided[len(lines)] = alignment.elided[index]
            end = None
        elif place is not None:
            blank = [line for line in range(place if end is None else end, place) if not page.keys[line]]
            lines += [page.lines[line] for line in blank]
            places += blank
            costs += [0.0] * len(blank)
            end = place + 1
        lines.append(given.lines[index])
        places.append(place)
        costs.append(alignment.costs[index])
    return Given(lines), Alignment(tuple(places), tuple(costs), alignment.total, elided)


def _changes(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are taken away and put in."""
    return sum(
        edit.old_end - edit.old_start + edit.new_end - edit.new_start for edit in line_edits(list(old), list(new))
    )


def _is_as_found(given: Sequence[str], found: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the new text is written as the file is rather than as the old text was given."""
    as_given, as_found = _shared(given, new), _shared(found, new)
    if as_given != as_found:
        return as_found > as_given
    given_indents, found_indents = _indents(given), _indents(found)
    new_indents = [indent_of(line) for line in new if line.strip()]
    return sum(indent in found_indents for indent in new_indents) > sum(
        indent in given_indents for indent in new_indents
    )


def _shared(lines: Sequence[str], new: Sequence[str]) -> int:
    left, right = (Counter(line.rstrip() for line in each if line.strip()) for each in (lines, new))
    return (left & right).total()


def _indents(lines: Sequence[str]) -> set[str]:
    return {indent_of(line) for line in lines if line.strip()}


def _has_its_words(given: str, found: str, new: Sequence[str]) -> bool:
    """Whether the new line that is most like the one found has the words in which that differs from the given one."""
    if operators_of(given) != operators_of(found) or digits_of(given) != digits_of(found):
        return False
    given_words, found_words = Counter(words_of(given)), Counter(words_of(found))
    only_found, only_given = found_words - given_words, given_words - found_words
    likest = max(
        (Counter(words_of(line)) for line in new),
        key=lambda words: (words & found_words).total(),
        default=Counter[str](),
    )
    return bool(only_found) and (likest & found_words) >= only_found and not (likest - found_words) & only_given
