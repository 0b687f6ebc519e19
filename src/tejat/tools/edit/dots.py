"""Checks the lines before and behind dots, which stand for any number of lines: where they end has to be certain."""

from collections.abc import Iterator, Sequence
from itertools import chain

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.given import Given, indent_of, is_elision
from tejat.tools.edit.merge import Conflict
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE

_FARTHEST = 300
"""Lines around dots among which those before and behind them may stand once more."""


def check_dots(given: Given, new: Sequence[str], page: Page, alignment: Alignment) -> None:
    """Raises Conflict if lines that the change is about are not next to the dots, or could as well be others."""
    if not alignment.elided:
        return
    dots = [index for index, is_dots in enumerate(given.elisions) if is_dots]
    parts, new_parts = _parts(given.lines), _parts(new)
    for number, (part, start) in enumerate(zip(parts, (0, *(index + 1 for index in dots)), strict=True)):
        if len(parts) == len(new_parts) and part == new_parts[number]:
            continue
        for edge in (start - 1, start + len(part)):
            inner = start if edge < start else edge - 1
            if part and edge in alignment.elided and alignment.costs[inner] >= STALE:
                raise Conflict(alignment.elided[edge][0], "stands where lines were left out, and no line ends them")
        keys = given.keys[start : start + len(part)]
        for line in _where_it_may_stand(number, start, len(part), len(parts), page, alignment):
            if any(keys) and page.keys[line : line + len(keys)] == keys:
                raise Conflict(line, "could be meant as well, as it stands before or behind the lines left out too")


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """The lines before, between and behind dots."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_elision(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _where_it_may_stand(
    number: int, start: int, size: int, count: int, page: Page, alignment: Alignment
) -> Iterator[int]:
    """Where else in its block the first or last part may begin."""
    block = [len(indent_of(page.lines[line])) for line in range(alignment.start, alignment.end) if page.keys[line]]
    depth = min(block, default=0)
    above, below = alignment.elided.get(start - 1), alignment.elided.get(start + size)
    if number == 0 and below is not None:
        begin = below[0] - size
        return chain(range(begin + 1, below[1]), _within(page, range(begin - 1, -1, -1), depth))
    if number == count - 1 and above is not None:
        return chain(range(*above), _within(page, range(above[1] + 1, len(page.keys)), depth))
    return iter(())


def _within(page: Page, lines: range, depth: int) -> Iterator[int]:
    """The lines up to the end of their block, in either direction."""
    for line in lines[:_FARTHEST]:
        if page.keys[line] and len(indent_of(page.lines[line])) < depth:
            return
        yield line
