"""Tells equal places apart by the lines around them, where the new text repeats those."""

from collections.abc import Sequence

from tejat.tools.edit.folding import is_telling, key_of
from tejat.tools.edit.given import plain_lines
from tejat.tools.edit.page import Page


def shared_with(new: Sequence[str], page: Page, start: int, end: int) -> tuple[int, int]:
    """How many of the first new lines stand before the lines `start` to `end`, and how many of the last behind them."""
    keys = [key_of(line) for line in new]
    before = next(
        (
            count
            for count in range(min(len(keys), start), 0, -1)
            if keys[:count] == page.keys[start - count : start] and any(map(is_telling, keys[:count]))
        ),
        0,
    )
    behind = next(
        (
            count
            for count in range(min(len(keys) - before, len(page.keys) - end), 0, -1)
            if keys[len(keys) - count :] == page.keys[end : end + count]
            and any(map(is_telling, keys[len(keys) - count :]))
        ),
        0,
    )
    return before, behind


def told_apart(new: str, page: Page, ranges: Sequence[tuple[int, int]]) -> tuple[int, int, int] | None:
    """Which range of lines is meant, and how many new lines repeat those before and behind it; None if unclear."""
    lines = plain_lines(new)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    found: list[tuple[int, int, int, int]] = []
    for index, (start, end) in enumerate(ranges):
        before, behind = shared_with(lines, page, start, end)
        repeated = [*page.keys[start - before : start], *page.keys[end : end + behind]]
        found.append((sum(map(is_telling, repeated)), index, before, behind))
    found.sort(reverse=True)
    if not found or not found[0][0] or (len(found) > 1 and found[1][0] == found[0][0]):
        return None
    _, index, before, behind = found[0]
    return index, before, behind
