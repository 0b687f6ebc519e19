"""Transplant of a change to a similar text."""

import re

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment, align
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_match import OTHER
from tejat.tools.edit.match.search_block import SearchBlock
from tejat.tools.edit.merge.three_way import three_way_merge
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile

_LEADING_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)*")
_TRAILING_BLANK_LINES = re.compile(r"(?:\n[ \t]*)*\Z")
_SLACK = 8


def transplant_change(old: str, found: str, new: str) -> str | None:
    """Apply the change from `old` to `new` to `found`; None if the result is uncertain. Lines end with LF."""
    old_core, found_core, new_core = _TrimmedText(old), _TrimmedText(found), _TrimmedText(new)
    before = _merge_blank_lines(old_core.before, found_core.before, new_core.before)
    behind = _merge_blank_lines(old_core.behind, found_core.behind, new_core.behind)
    if before is None or behind is None:
        return None
    inner = _merge_text(old_core.text, found_core.text, new_core.text)
    return None if inner is None else before + inner + behind


class _TrimmedText:
    """A text without the blank lines around it, which models add and drop freely."""

    __slots__ = ("before", "behind", "text")

    def __init__(self, text: str) -> None:
        before = _LEADING_BLANK_LINES.match(text)
        self.before = before[0] if before and text.strip() else ""
        rest = text[len(self.before) :]
        behind = _TRAILING_BLANK_LINES.search(rest)
        self.behind = behind[0] if behind else ""
        self.text = rest[: len(rest) - len(self.behind)]


def _merge_blank_lines(old: str, found: str, new: str) -> str | None:
    if found == old:
        return new
    return found if new == old else None


def _merge_text(old: str, found: str, new: str) -> str | None:
    if old == found:
        return new
    if old == new:
        return found
    block, target = SearchBlock(old.split("\n")), IndexedFile(TextFile(UTF_8.encode(found), UTF_8))
    ways = align(block, target, 0, abs(len(block.lines) - len(target.lines)) + _SLACK)
    if not ways and len(block.lines) != len(target.lines):
        return None
    count = len(block.lines)
    way = ways[0] if ways else Alignment(tuple(range(count)), (OTHER,) * count, 0.0, {})
    try:
        edits = three_way_merge(block, new.split("\n") if new else [], target, way, is_confirmed=True)
    except MergeConflict:
        return None
    lines: list[str] = []
    done = 0
    for edit in edits:
        lines += [*target.lines[done : edit.start], *edit.lines]
        done = edit.end
    return "\n".join([*lines, *target.lines[done:]])
