"""Rows of a diff: numbered lines, gaps, file names and notes, for every front end."""

from collections.abc import Iterator, Sequence

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, ngettext
from tejat.core.sanitize import sanitize_text
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.diff.file_header import parse_file_headers
from tejat.ui.shared.diff.hunks import DiffHunk, parse_hunks
from tejat.ui.shared.diff.word_marks import Spans, WordComparer

CONTEXT_LINES = 3
"""Unchanged lines kept around a change."""


class DiffRowKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CONTEXT = "context"
    GAP = "gap"
    FILE = "file"
    NOTE = "note"


class DiffRow(Frozen):
    """One line of a diff, sanitized and without its sign. Tabs stay.

    `marks` are spans of `text` that differ from the paired line. A GAP stands for `hidden` lines, of which `added` and
    `removed` are changes; its text is the section that follows. A FILE row has the totals of its file. In other rows
    `hidden` is the number of characters clipped from the end.
    """

    kind: DiffRowKind
    text: str = ""
    old_number: int | None = None
    new_number: int | None = None
    marks: Spans = ()
    hidden: int = 0
    added: int = 0
    removed: int = 0

    @property
    def number(self) -> int | None:
        """The line number for a single gutter: the old one of removed lines, else the new one."""
        return self.old_number if self.kind is DiffRowKind.REMOVED else self.new_number

    @property
    def is_change(self) -> bool:
        return self.kind in (DiffRowKind.ADDED, DiffRowKind.REMOVED)


def build_diff_rows(diff: str, *, context: int | None = CONTEXT_LINES, with_files: bool = True) -> tuple[DiffRow, ...]:
    """Build the rows of a unified diff of one or more files, with at most `context` unchanged lines around changes.

    Without `context` all unchanged lines stay. Without files their headings are left out, for a diff whose title
    already names its one file.
    """
    hunks = parse_hunks(diff) if diff else ()
    rows = _hunk_rows(hunks, WordComparer(), with_files=with_files)
    return tuple(rows) if context is None else trim_context(rows, context)


def build_file_rows(original: str, diff: str) -> tuple[DiffRow, ...]:
    """Build the rows of a whole file with the hunks of its diff in place, empty if the diff has no hunks."""
    lines = original.split("\n")
    if lines[-1] == "":
        lines.pop()
    rows: list[DiffRow] = []
    old = new = 1
    compare = WordComparer()
    for hunk in parse_hunks(diff):
        if hunk.ranges is None:
            continue
        start = hunk.ranges.old_first
        rows += _context_rows(lines[old - 1 : start - 1], old, new)
        rows += _line_rows(hunk, compare)
        old, new = hunk.ranges.old_end, hunk.ranges.new_end
    return (*rows, *_context_rows(lines[old - 1 :], old, new)) if rows else ()


def count_changes(rows: Sequence[DiffRow]) -> tuple[int, int]:
    """Return the numbers of added and removed lines, including those that a gap hides."""
    gaps = [row for row in rows if row.kind is DiffRowKind.GAP]
    added = sum(row.kind is DiffRowKind.ADDED for row in rows) + sum(row.added for row in gaps)
    return added, sum(row.kind is DiffRowKind.REMOVED for row in rows) + sum(row.removed for row in gaps)


def trim_context(rows: Sequence[DiffRow], context: int) -> tuple[DiffRow, ...]:
    """Keep at most `context` unchanged lines before and after each change; gaps stand for the others in between."""
    trimmed: list[DiffRow] = []
    run: list[DiffRow] = []
    for row in rows:
        # A note belongs to the line before it.
        if row.kind is DiffRowKind.CONTEXT or (run and row.kind is DiffRowKind.NOTE):
            run.append(row)
            continue
        _add_context(trimmed, run, row, context)
        run = []
        if row.kind is DiffRowKind.GAP and trimmed and trimmed[-1].kind is DiffRowKind.GAP:
            trimmed[-1] = merge_gaps(trimmed[-1], row)
        else:
            trimmed.append(row)
    _add_context(trimmed, run, None, context)
    if trimmed and trimmed[-1].kind is DiffRowKind.GAP and not _hides_changes(trimmed[-1]):
        trimmed.pop()
    return tuple(trimmed)


def strip_blank_context(rows: Sequence[DiffRow]) -> tuple[DiffRow, ...]:
    """Return a diff without blank unchanged lines at its beginning and end, which only take space."""
    shown = [at for at, row in enumerate(rows) if row.kind is not DiffRowKind.CONTEXT or row.text.strip()]
    return tuple(rows[shown[0] : shown[-1] + 1]) if shown else ()


def merge_gaps(first: DiffRow, second: DiffRow) -> DiffRow:
    return DiffRow(
        DiffRowKind.GAP,
        second.text,
        hidden=first.hidden + second.hidden,
        added=first.added + second.added,
        removed=first.removed + second.removed,
    )


def clip_rows(rows: Sequence[DiffRow], max_chars: int) -> tuple[DiffRow, ...]:
    """Clip the texts to a length. A clipped row counts the characters that it hides."""
    return tuple(row if len(row.text) <= max_chars else _clip(row, max_chars) for row in rows)


def gap_label(row: DiffRow) -> str:
    """Return what a gap hides, in words."""
    if _hides_changes(row):
        return ngettext(
            "{count} more line (+{added} -{removed})",
            "{count} more lines (+{added} -{removed})",
            row.hidden,
            added=row.added,
            removed=row.removed,
        )
    return ngettext("{count} unchanged line", "{count} unchanged lines", row.hidden) if row.hidden else ""


def clip_label(row: DiffRow) -> str:
    """Return how many characters a clipped row hides, in words."""
    return ngettext("{count} more character", "{count} more characters", row.hidden)


def _clip(row: DiffRow, max_chars: int) -> DiffRow:
    marks = tuple((start, min(end, max_chars)) for start, end in row.marks if start < max_chars)
    return replace(row, text=row.text[:max_chars], marks=marks, hidden=row.hidden + len(row.text) - max_chars)


def _hides_changes(gap: DiffRow) -> bool:
    return bool(gap.added or gap.removed)


def _add_context(trimmed: list[DiffRow], run: list[DiffRow], following: DiffRow | None, context: int) -> None:
    """Append what is kept of a run of unchanged lines between the last row and the following one."""
    after = context if trimmed and trimmed[-1].kind in _CHANGED else 0
    before = context if following is not None and following.is_change else 0
    hidden = run[after : max(len(run) - before, after)]
    count = sum(row.kind is DiffRowKind.CONTEXT for row in hidden)
    if count <= 1 and after and before:
        trimmed += run
        return
    trimmed += run[:after]
    gap = DiffRow(DiffRowKind.GAP, hidden=count)
    if after and before:
        trimmed.append(gap)
    elif count and trimmed and trimmed[-1].kind is DiffRowKind.GAP:
        trimmed[-1] = merge_gaps(trimmed[-1], replace(gap, text=trimmed[-1].text))
    elif count and following is not None and following.kind is DiffRowKind.GAP:
        trimmed.append(gap)  # merged with the gap that follows
    trimmed += run[after + len(hidden) :]


_CHANGED = (DiffRowKind.ADDED, DiffRowKind.REMOVED, DiffRowKind.NOTE)


def _hunk_rows(hunks: Sequence[DiffHunk], compare: WordComparer, *, with_files: bool) -> list[DiffRow]:
    rows: list[DiffRow] = []
    next_line: int | None = None
    for number, hunk in enumerate(hunks):
        for header in parse_file_headers(hunk.names):
            if header.title:
                next_line = None
            if header.title and with_files:
                following = list(_hunks_of_file(hunks, number)) if header.is_last else []
                added, removed = sum(each.added for each in following), sum(each.removed for each in following)
                rows.append(DiffRow(DiffRowKind.FILE, sanitize_text(header.title), added=added, removed=removed))
            rows += (DiffRow(DiffRowKind.NOTE, sanitize_text(note)) for note in header.notes)
        ranges = hunk.ranges
        if ranges is None:
            rows += (DiffRow(DiffRowKind.NOTE, sanitize_text(line)) for line in (hunk.heading, *hunk.lines) if line)
            next_line = None
            continue
        if next_line is not None:
            hidden = max(ranges.new_first - next_line, 0)
            rows.append(DiffRow(DiffRowKind.GAP, sanitize_text(ranges.section), hidden=hidden))
        rows += _line_rows(hunk, compare)
        next_line = ranges.new_end
    return rows


def _hunks_of_file(hunks: Sequence[DiffHunk], start: int) -> Iterator[DiffHunk]:
    yield hunks[start]
    for hunk in hunks[start + 1 :]:
        if hunk.names:
            return
        yield hunk


def _context_rows(lines: Sequence[str], old: int, new: int) -> Iterator[DiffRow]:
    for index, line in enumerate(lines):
        yield DiffRow(DiffRowKind.CONTEXT, sanitize_text(line), old + index, new + index)


def _line_rows(hunk: DiffHunk, compare: WordComparer) -> list[DiffRow]:
    assert hunk.ranges is not None
    old, new = hunk.ranges.old_first, hunk.ranges.new_first
    rows: list[DiffRow] = []
    removed: list[int] = []
    added: list[int] = []
    for line in hunk.lines:
        sign, text = line[:1], sanitize_text(line[1:])
        if (removed or added) and (sign == " " or (sign == "-" and added)):
            _mark_words(rows, removed, added, compare)
            removed, added = [], []
        if sign == "+":
            added.append(len(rows))
            rows.append(DiffRow(DiffRowKind.ADDED, text, None, new))
        elif sign == "-":
            removed.append(len(rows))
            rows.append(DiffRow(DiffRowKind.REMOVED, text, old))
        elif sign == "\\":
            rows.append(DiffRow(DiffRowKind.NOTE, _("No newline at end of file")))
            continue
        else:
            rows.append(DiffRow(DiffRowKind.CONTEXT, text, old, new))
        old += sign != "+"
        new += sign != "-"
    _mark_words(rows, removed, added, compare)
    return rows


def _mark_words(rows: list[DiffRow], removed: list[int], added: list[int], compare: WordComparer) -> None:
    """Mark the changed words of a block of removed lines and the added lines after it."""
    if not removed or not added:
        return
    old, new = ([rows[index].text for index in indexes] for indexes in (removed, added))
    for old_index, new_index, old_marks, new_marks in compare.pair_lines(old, new):
        for index, marks in ((removed[old_index], old_marks), (added[new_index], new_marks)):
            rows[index] = replace(rows[index], marks=marks)
