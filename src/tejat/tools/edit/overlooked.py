"""Says in a few words what had to be overlooked to find the place of an edit."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.likeness import CUT
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE


def overlooked(given: Given, page: Page, alignments: Sequence[Alignment]) -> tuple[str, ...]:
    """A clause for each kind of difference."""
    kinds: dict[str, None] = {}
    for alignment in alignments:
        kinds |= dict.fromkeys(_kinds(given, page, alignment))
    return (f"overlooked: {', '.join(kinds)}",) if kinds else ()


def _kinds(given: Given, page: Page, alignment: Alignment) -> Iterator[str]:
    if alignment.elided:
        yield "lines left out"
    taken = {place for place in alignment.places if place is not None}
    taken.update(line for start, end in alignment.elided.values() for line in range(start, end))
    between = [line for line in range(alignment.start, alignment.end) if line not in taken]
    missing = [index for index, place in enumerate(alignment.places) if place is None and index not in alignment.elided]
    if any(not page.keys[line] for line in between) or any(not given.keys[index] for index in missing):
        yield "blank lines"
    if any(page.keys[line] for line in between) or any(given.keys[index] for index in missing):
        yield "lines put in or taken out since"
    for index, place in enumerate(alignment.places):
        if place is not None and given.keys[index]:
            yield from _kinds_of_line(given.lines[index], page.lines[place], alignment.costs[index])


def _kinds_of_line(given: str, found: str, cost: float) -> Iterator[str]:
    if cost >= STALE:
        yield "lines changed since"
    elif cost > CUT:
        yield f"a slip in `{given.strip()[:60]}`"
    elif cost == CUT:
        yield "a line cut short"
    elif given.strip() != found.strip():
        yield "spacing or look-alike characters"
    elif indent_of(given) != indent_of(found):
        yield "indentation"
    elif given != found:
        yield "white space at line ends"
