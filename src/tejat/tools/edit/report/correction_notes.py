"""Notes for the model about the differences that an edit overlooked."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.alignment import LineAlignment
from tejat.tools.edit.match.cost_matrix import STALE
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_cost import CUT
from tejat.tools.edit.match.search_block import SearchBlock, indent_of


def describe_corrections(given: SearchBlock, page: IndexedFile, alignments: Sequence[LineAlignment]) -> tuple[str, ...]:
    """Describe the kinds of differences in one clause."""
    kinds: dict[str, None] = {}
    for alignment in alignments:
        kinds |= dict.fromkeys(_difference_kinds(given, page, alignment))
    return (f"overlooked: {', '.join(kinds)}",) if kinds else ()


def _difference_kinds(given: SearchBlock, page: IndexedFile, alignment: LineAlignment) -> Iterator[str]:
    if alignment.elided_ranges:
        yield "lines left out"
    taken = {place for place in alignment.positions if place is not None}
    taken.update(line for start, end in alignment.elided_ranges.values() for line in range(start, end))
    between = [line for line in range(alignment.start, alignment.end) if line not in taken]
    missing = [
        index
        for index, place in enumerate(alignment.positions)
        if place is None and index not in alignment.elided_ranges
    ]
    if any(not page.keys[line] for line in between) or any(not given.keys[index] for index in missing):
        yield "blank lines"
    if any(page.keys[line] for line in between) or any(given.keys[index] for index in missing):
        yield "lines put in or taken out since"
    for index, place in enumerate(alignment.positions):
        if place is not None and given.keys[index]:
            yield from _line_difference_kinds(given.lines[index], page.lines[place], alignment.costs[index])


def _line_difference_kinds(given: str, found: str, cost: float) -> Iterator[str]:
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
