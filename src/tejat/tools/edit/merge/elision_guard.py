"""Guard for lines next to elisions, whose extent has to be certain."""

from collections.abc import Iterator, Sequence
from itertools import chain

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.search_block import SearchBlock, indent_of, is_elision

_MAX_DISTANCE = 300
"""Lines around an elision that are searched for another occurrence of its neighbors."""


def check_elisions(block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment) -> None:
    """Raise MergeConflict if changed lines next to an elision are missing or ambiguous."""
    if not alignment.elided:
        return
    dots = [index for index, is_dots in enumerate(block.elisions) if is_dots]
    parts, new_parts = _split_at_elisions(block.lines), _split_at_elisions(new)
    for number, (part, start) in enumerate(zip(parts, (0, *(index + 1 for index in dots)), strict=True)):
        if len(parts) == len(new_parts) and part == new_parts[number]:
            continue
        for edge in (start - 1, start + len(part)):
            inner = start if edge < start else edge - 1
            if part and edge in alignment.elided and not alignment.matches[inner].is_known:
                place = alignment.elided[edge][0]
                raise MergeConflict(place, "stands where lines were left out, and no line ends them")
        keys = block.keys[start : start + len(part)]
        for line in _other_positions(number, start, len(part), len(parts), target, alignment):
            if any(keys) and target.keys[line : line + len(keys)] == keys:
                raise MergeConflict(
                    line, "could be meant as well, as it stands before or behind the lines left out too"
                )


def _split_at_elisions(lines: Sequence[str]) -> list[list[str]]:
    """Lines before, between and after the elisions."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_elision(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _other_positions(
    number: int, start: int, size: int, count: int, target: IndexedFile, alignment: Alignment
) -> Iterator[int]:
    """Other positions in the block at which the first or last part may start."""
    block = [len(indent_of(target.lines[line])) for line in range(alignment.start, alignment.end) if target.keys[line]]
    depth = min(block, default=0)
    above, below = alignment.elided.get(start - 1), alignment.elided.get(start + size)
    if number == 0 and below is not None:
        begin = below[0] - size
        return chain(range(begin + 1, below[1]), _lines_in_block(target, range(begin - 1, -1, -1), depth))
    if number == count - 1 and above is not None:
        return chain(range(*above), _lines_in_block(target, range(above[1] + 1, len(target.keys)), depth))
    return iter(())


def _lines_in_block(target: IndexedFile, lines: range, depth: int) -> Iterator[int]:
    """Lines up to the end of the block, in either direction."""
    for line in lines[:_MAX_DISTANCE]:
        if target.keys[line] and len(indent_of(target.lines[line])) < depth:
            return
        yield line
