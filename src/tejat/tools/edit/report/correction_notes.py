"""Notes for the model about the differences that an edit overlooked."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.search_block import SearchBlock, indent_of


def describe_corrections(block: SearchBlock, target: IndexedFile, alignments: Sequence[Alignment]) -> tuple[str, ...]:
    """Describe the kinds of differences in one clause."""
    kinds: dict[str, None] = {}
    for alignment in alignments:
        kinds |= dict.fromkeys(_difference_kinds(block, target, alignment))
    return (f"overlooked: {', '.join(kinds)}",) if kinds else ()


def _difference_kinds(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> Iterator[str]:
    if alignment.elided:
        yield "lines left out"
    taken = {place for place in alignment.positions if place is not None}
    taken.update(line for start, end in alignment.elided.values() for line in range(start, end))
    between = [line for line in range(alignment.start, alignment.end) if line not in taken]
    places = enumerate(alignment.positions)
    missing = [index for index, place in places if place is None and index not in alignment.elided]
    if any(not target.keys[line] for line in between) or any(not block.keys[index] for index in missing):
        yield "blank lines"
    if any(target.keys[line] for line in between) or any(block.keys[index] for index in missing):
        yield "lines put in or taken out since"
    for index, place in enumerate(alignment.positions):
        if place is not None and block.keys[index]:
            yield from _line_difference_kinds(block.lines[index], target.lines[place], alignment.matches[index].kind)


def _line_difference_kinds(given: str, found: str, kind: MatchKind) -> Iterator[str]:
    if kind >= MatchKind.OTHER:
        yield "lines changed since"
    elif kind is MatchKind.REWORDED:
        yield "a comment in other words"
    elif kind > MatchKind.CUT:
        yield f"a slip in `{given.strip()[:60]}`"
    elif kind is MatchKind.CUT:
        yield "a line cut short"
    elif given.strip() != found.strip():
        yield "spacing or look-alike characters"
    elif indent_of(given) != indent_of(found):
        yield "indentation"
    elif given != found:
        yield "white space at line ends"
