"""Unified diffs for display, and diff statistics, in bounded time and size."""

from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from itertools import pairwise
from typing import AnyStr

from tejat.core.frozen import Frozen
from tejat.core.tools.display import DiffStat
from tejat.workspace.text.line_edits import DEFAULT_BUDGET, DiffEdit, common_prefix, common_suffix, compute_line_edits
from tejat.workspace.text.text_edits import ByteEdit, count_byte

_CONTEXT = 3
_HEADER_LINES = 4
_RULE = "=" * 67
_NO_NEWLINE_MARKER = "\n\\ No newline at end of file\n"

_MAX_PATCH = 2 << 20
"""Characters of a patch; a longer one is summarised."""

_MAX_COMPARISON = 4 << 20
"""Total characters of both sides that are compared line by line; more count as one replacement."""

_MAX_LINES = 100_000
"""Added and removed lines that a patch shows."""

_MAX_EDITS = 20_000
"""Edits whose lines are looked up."""

_NARROW_FRACTION = 8
_MIN_BUDGET = 500
_LINE_FEED = 0x0A

# A file name must not inject lines into the patch.
_CONTROL_CODES = (*range(32), 127, 0x85, 0x2028, 0x2029)
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROL_CODES}


class Patch(Frozen):
    """A unified diff with its number of added and removed lines.

    Undecodable bytes are lone surrogates in the text. A summary shows no lines and cannot be applied; its numbers may
    include unchanged lines between changed ones.
    """

    text: str
    added: int
    removed: int
    is_summary: bool

    def with_headers(self, *, old_header: str, new_header: str) -> str:
        """Return the patch text with other headers."""
        index, rule, old, new, hunks = self.text.split("\n", _HEADER_LINES)
        old_name, new_name = old.rpartition("\t")[0], new.rpartition("\t")[0]
        return "\n".join([index, rule, f"{old_name}\t{old_header}", f"{new_name}\t{new_header}", hunks])


def create_patch(file_name: str, old: str, new: str, *, old_header: str, new_header: str) -> Patch:
    """Create the patch from one text to another.

    Lines end at LF only: CR is part of the line. Every difference counts, including white space.
    """
    header = _header(file_name, old_header, new_header)
    span = _differing_span(old, new)
    if _is_too_large(span):
        removed = _count_lines(old[span.old_start : span.old_end])
        added = _count_lines(new[span.new_start : span.new_end])
        return _summary_patch(header, added=added, removed=removed)
    start = _context_start(old, "\n", span.old_start)
    old_end = _context_end(old, "\n", span.old_end)
    new_end = span.new_end + old_end - span.old_end
    return _build_patch(header, [_Section(old.count("\n", 0, start), old[start:old_end], new[start:new_end])])


def create_patch_from_edits(
    file_name: str,
    old: bytes,
    edits: Sequence[ByteEdit],
    *,
    decode: Callable[[bytes], str],
    old_header: str,
    new_header: str,
) -> Patch:
    """Create the patch for edits of a file of any size; only the lines around them are decoded.

    The edits are in order and do not overlap. `decode` gets whole lines, split at LF bytes: for UTF-16 and UTF-32,
    where such a byte may be half a character, decode both texts and call `create_patch`.
    """
    header = _header(file_name, old_header, new_header)
    if _edited_size(edits) > 2 * _MAX_COMPARISON:
        edits = [_narrow_edit(old, edit) for edit in edits]
    # Even if an eighth of it is the same, this is too much.
    sections = None if _edited_size(edits) > 2 * _MAX_COMPARISON else _sections(old, edits, decode)
    if sections is None:
        removed, added = _count_touched_lines(old, edits)
        return _summary_patch(header, added=added, removed=removed)
    return _build_patch(header, sections)


def count_diff_stat(old: str, proposed: str, final: str) -> DiffStat:
    """Count the model's changes to the old text and the user's changes to the model's text."""
    return DiffStat(*_count_changes(old, proposed), *_count_changes(proposed, final))


def _edited_size(edits: Sequence[ByteEdit]) -> int:
    return sum(len(edit.new) + edit.end - edit.start for edit in edits)


def _narrow_edit(old: bytes, edit: ByteEdit) -> ByteEdit:
    """Return the same edit of a file without the bytes at its beginning and end that stay the same.

    If they are few, they are not worth a copy.
    """
    length = edit.end - edit.start
    prefix = common_prefix(old, edit.new, old_start=edit.start, limit=length)
    suffix = 0
    if edit.end == len(old):
        suffix = common_suffix(old, edit.new, limit=min(length, len(edit.new)) - prefix)
    if (prefix + suffix) * _NARROW_FRACTION < len(edit.new):
        return edit
    return ByteEdit(edit.start + prefix, edit.end - suffix, edit.new[prefix : len(edit.new) - suffix])


def _header(file_name: str, old_header: str, new_header: str) -> str:
    name = file_name.translate(_ESCAPES)
    return f"Index: {name}\n{_RULE}\n--- {name}\t{old_header}\n+++ {name}\t{new_header}\n"


def _differing_span(old: str, new: str) -> DiffEdit:
    """Return the character range between the common leading and trailing lines."""
    shorter = min(len(old), len(new))
    start = old.rfind("\n", 0, common_prefix(old, new, limit=shorter)) + 1
    if old == new:
        return DiffEdit(len(old), len(old), len(new), len(new))
    back = common_suffix(old, new, limit=shorter - start)
    old_end, new_end = len(old) - back, len(new) - back
    if not (_begins_line(old, old_end) and _begins_line(new, new_end)):
        old_end = old.find("\n", old_end) + 1 or len(old)
        new_end = len(new) - (len(old) - old_end)
    return DiffEdit(start, old_end, start, new_end)


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _is_too_large(span: DiffEdit) -> bool:
    return span.old_end - span.old_start + span.new_end - span.new_start > _MAX_COMPARISON


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def _summary_patch(header: str, *, added: int, removed: int) -> Patch:
    text = f"{header}[The diff is too large to show: {_count_phrase(removed)} removed, {_count_phrase(added)} added]\n"
    return Patch(text, added=added, removed=removed, is_summary=True)


def _count_phrase(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def _context_start(content: AnyStr, line_feed: AnyStr, start: int) -> int:
    """Return the start of the context before the line that begins at `start`."""
    for _ in range(_CONTEXT):
        start = content.rfind(line_feed, 0, max(0, start - 1)) + 1
    return start


def _context_end(content: AnyStr, line_feed: AnyStr, end: int) -> int:
    """Return the end of the context after the line that ends at `end`."""
    for _ in range(_CONTEXT):
        end = content.find(line_feed, end) + 1 or len(content)
    return end


class _Section(Frozen):
    """Whole lines of a file before and after a change, with context."""

    first_line: int
    old: str
    new: str


def _build_patch(header: str, sections: list[_Section]) -> Patch:
    whole = sum(len(section.old) + len(section.new) for section in sections)
    added = removed = 0
    hunks: list[str] = [header]
    room = _MAX_PATCH - len(header)
    for section in sections:
        old, new = _split_lines(section.old), _split_lines(section.new)
        share = DEFAULT_BUDGET * (len(section.old) + len(section.new)) // max(1, whole)
        edits = compute_line_edits(old, new, budget=max(_MIN_BUDGET, share))
        new_line = section.first_line + added - removed
        removed += sum(edit.old_end - edit.old_start for edit in edits)
        added += sum(edit.new_end - edit.new_start for edit in edits)
        if added + removed > _MAX_LINES:
            room = -1
        # Once the patch is too long its hunks are no longer made, but its lines are still counted.
        for group in _group_hunks(edits) if room >= 0 else ():
            hunk = _format_hunk(group, old, new, old_line=section.first_line, new_line=new_line)
            room -= len(hunk)
            hunks.append(hunk)
    if room < 0:
        return _summary_patch(header, added=added, removed=removed)
    return Patch("".join(hunks), added=added, removed=removed, is_summary=False)


def _split_lines(text: str) -> list[str]:
    return StringIO(text, newline="\n").readlines()


def _group_hunks(edits: list[DiffEdit]) -> Iterator[list[DiffEdit]]:
    """Group edits whose contexts touch into hunks."""
    group = edits[:1]
    for before, edit in pairwise(edits):
        if edit.old_start - before.old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _format_hunk(group: list[DiffEdit], old: list[str], new: list[str], *, old_line: int, new_line: int) -> str:
    first, last = group[0], group[-1]
    lead = min(_CONTEXT, first.old_start)
    trail = min(_CONTEXT, len(old) - last.old_end)
    old_range = _range(old_line + first.old_start - lead, last.old_end + trail - first.old_start + lead)
    new_range = _range(new_line + first.new_start - lead, last.new_end + trail - first.new_start + lead)
    parts = [f"@@ -{old_range} +{new_range} @@\n"]
    at = first.old_start - lead
    for edit in group:
        parts += [_format_line(" ", line) for line in old[at : edit.old_start]]
        parts += [_format_line("-", line) for line in old[edit.old_start : edit.old_end]]
        parts += [_format_line("+", line) for line in new[edit.new_start : edit.new_end]]
        at = edit.old_end
    parts += [_format_line(" ", line) for line in old[at : at + trail]]
    return "".join(parts)


def _range(start: int, count: int) -> str:
    # Lines are counted from one; a range of none names the line before it.
    return f"{start + 1 if count else start},{count}"


def _format_line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else sign + line + _NO_NEWLINE_MARKER


def _sections(old: bytes, edits: Sequence[ByteEdit], decode: Callable[[bytes], str]) -> list[_Section] | None:
    """Return the lines around the edits, merged where contexts touch; None if they are too large."""
    if len(edits) > _MAX_EDITS:
        return None
    sections: list[_Section] = []
    counted = line = compared = 0
    for start, end, group in _edit_regions(old, edits):
        compared += 2 * (end - start) + sum(len(edit.new) - (edit.end - edit.start) for edit in group)
        if compared > _MAX_COMPARISON:
            return None
        line += count_byte(old, b"\n", counted, start)
        counted = start
        sections.append(_Section(line, decode(old[start:end]), decode(_apply_edits(old, start, end, group))))
    return sections


def _edit_regions(old: bytes, edits: Sequence[ByteEdit]) -> Iterator[tuple[int, int, list[ByteEdit]]]:
    """Yield the range of the lines around edits, and the edits in it."""
    start = end = touched = 0
    group: list[ByteEdit] = []
    for index, given in enumerate(edits):
        edit = _shift_down(old, given, edits[index + 1].start if index + 1 < len(edits) else len(old))
        if edit.end < touched:
            group.append(edit)
            continue
        first = _context_start(old, b"\n", old.rfind(b"\n", 0, edit.start) + 1)
        if group and first > end:
            yield start, end, group
            group = []
        if not group:
            start = first
        group.append(edit)
        touched = old.find(b"\n", edit.end) + 1 or len(old)
        end = _context_end(old, b"\n", touched)
    if group:
        yield start, end, group


def _shift_down(old: bytes, edit: ByteEdit, limit: int) -> ByteEdit:
    """Move a change as far down as possible, which is where a comparison of whole texts finds it."""
    most = min(len(edit.new), edit.end - edit.start)
    start = edit.start + common_prefix(old, edit.new, old_start=edit.start, limit=most)
    new = edit.new[start - edit.start :]
    room = limit - edit.end
    if start < edit.end and new:
        return ByteEdit(start, edit.end, new)
    if not new:
        down = common_prefix(old, old, old_start=start, new_start=edit.end, limit=room)
        return ByteEdit(start + down, edit.end + down, b"")
    down = common_prefix(old, new, old_start=start, limit=room)
    if down == len(new):
        down += common_prefix(old, old, old_start=start + down, new_start=start, limit=room - down)
    return ByteEdit(start + down, start + down, (new + old[start : start + down])[down:])


def _apply_edits(old: bytes, start: int, end: int, edits: list[ByteEdit]) -> bytes:
    pieces: list[bytes] = []
    for edit in edits:
        pieces += (old[start : edit.start], edit.new)
        start = edit.end
    return b"".join([*pieces, old[start:end]])


def _count_touched_lines(old: bytes, edits: Sequence[ByteEdit]) -> tuple[int, int]:
    """Count removed and added lines; a partly changed line counts as replaced."""
    removed = added = touched = 0
    for edit in edits:
        if edit.start >= touched and not _covers_whole_lines(old, edit):
            removed += 1
            added += 1
            touched = old.find(b"\n", edit.end) + 1 or len(old)
        removed += count_byte(old, b"\n", edit.start, edit.end)
        added += count_byte(edit.new, b"\n", 0, len(edit.new))
    return removed, added


def _covers_whole_lines(old: bytes, edit: ByteEdit) -> bool:
    begins = edit.start == 0 or old[edit.start - 1] == _LINE_FEED
    ends = edit.end == edit.start or old[edit.end - 1] == _LINE_FEED
    return begins and ends and (not edit.new or edit.new[-1] == _LINE_FEED)


def _count_changes(old: str, new: str) -> tuple[int, int, int, int]:
    """Return added lines, removed lines, added and removed characters, in the order of DiffStat's fields."""
    span = _differing_span(old, new)
    old, new = old[span.old_start : span.old_end], new[span.new_start : span.new_end]
    if _is_too_large(span):
        return _count_lines(new), _count_lines(old), _count_characters(new), _count_characters(old)
    old_lines, new_lines = _split_lines(old), _split_lines(new)
    edits = compute_line_edits(old_lines, new_lines)
    removed = [line for edit in edits for line in old_lines[edit.old_start : edit.old_end]]
    added = [line for edit in edits for line in new_lines[edit.new_start : edit.new_end]]
    return len(added), len(removed), _count_characters("".join(added)), _count_characters("".join(removed))


def _count_characters(lines: str) -> int:
    return len(lines) - lines.count("\n") - lines.count("\r\n")
