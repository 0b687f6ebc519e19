"""Which text the new one was written over: the old one as it was given, or the one that is in the file.

Models often write the old text from memory and the new one as it should be. A line that the new text has as the file
has it was never meant to be changed, however it was given.
"""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.alignment import STALE, Alignment
from tejat.tools.edit.folding import digits_of, operators_of, words_of
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import CUT
from tejat.tools.edit.page import Page


def base_of(given: Given, new: Sequence[str], page: Page, alignment: Alignment) -> Given:
    """The old lines that the new ones have to be compared with."""
    found = [None if place is None else page.lines[place] for place in alignment.places]
    is_as_found = _is_as_found(given.lines, [line for line in found if line is not None], new)
    new_lines = {line.rstrip() for line in new}
    lines: list[str] = []
    for index, (old, there) in enumerate(zip(given.lines, found, strict=True)):
        if there is None or old == there:
            lines.append(old)
            continue
        as_given, as_found = old.rstrip() in new_lines, there.rstrip() in new_lines
        if as_given != as_found or (as_given and alignment.costs[index] >= CUT):
            lines.append(old if as_given else there)
        elif alignment.costs[index] < CUT:
            lines.append(there if is_as_found else old)
        else:
            is_found_meant = alignment.costs[index] < STALE and _has_its_words(old, there, new)
            # The words as they were given, but the white space as the new text has it.
            reindented = indent_of(there) + old.lstrip(" \t") if is_as_found else old
            lines.append(there if is_found_meant else reindented)
    return Given(lines)


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
