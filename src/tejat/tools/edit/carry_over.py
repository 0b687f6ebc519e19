"""Makes a change that was meant for one text in another that differs a little from it."""

import re

from tejat.tools.edit.alignment import Alignment, align
from tejat.tools.edit.given import Given
from tejat.tools.edit.merge import Conflict, merge
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import STALE
from tejat.workspace.encoding import UTF_8
from tejat.workspace.splice import TextFile

_BLANK_BEFORE = re.compile(r"\A(?:[ \t]*\n)*")
_BLANK_BEHIND = re.compile(r"(?:\n[ \t]*)*\Z")
_SLACK = 8


def carried_over(old: str, found: str, new: str) -> str | None:
    """What `found` becomes by the change from `old` to `new`; None if that is not certain. Lines end with LF."""
    old_core, found_core, new_core = _Core(old), _Core(found), _Core(new)
    before = _outer(old_core.before, found_core.before, new_core.before)
    behind = _outer(old_core.behind, found_core.behind, new_core.behind)
    if before is None or behind is None:
        return None
    inner = _merged(old_core.text, found_core.text, new_core.text)
    return None if inner is None else before + inner + behind


class _Core:
    """A text and the blank lines around it, which models add and forget as they like."""

    __slots__ = ("before", "behind", "text")

    def __init__(self, text: str) -> None:
        before = _BLANK_BEFORE.match(text)
        self.before = before[0] if before and text.strip() else ""
        rest = text[len(self.before) :]
        behind = _BLANK_BEHIND.search(rest)
        self.behind = behind[0] if behind else ""
        self.text = rest[: len(rest) - len(self.behind)]


def _outer(old: str, found: str, new: str) -> str | None:
    if found == old:
        return new
    return found if new == old else None


def _merged(old: str, found: str, new: str) -> str | None:
    if old == found:
        return new
    if old == new:
        return found
    given, page = Given(old.split("\n")), Page(TextFile(UTF_8.encode(found), UTF_8))
    ways = align(given, page, 0, abs(len(given.lines) - len(page.lines)) + _SLACK)
    if not ways and len(given.lines) != len(page.lines):
        return None
    way = ways[0] if ways else _line_by_line(len(given.lines))
    try:
        edits = merge(given, new.split("\n") if new else [], page, way, is_confirmed=True)
    except Conflict:
        return None
    lines: list[str] = []
    done = 0
    for edit in edits:
        lines += [*page.lines[done : edit.start], *edit.lines]
        done = edit.end
    return "\n".join([*lines, *page.lines[done:]])


def _line_by_line(count: int) -> Alignment:
    """The first line for the first, and so on."""
    return Alignment(tuple(range(count)), (float(STALE),) * count, 0.0, {})
