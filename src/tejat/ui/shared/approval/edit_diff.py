"""Edits as display lines: the hunks alone, or the whole file with them."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind
from tejat.ui.shared.diff.hunks import FILE_HEADER, HEADER_LINES, HUNK_HEADING, strip_file_header

_BLANKS = re.compile(r" +|\t+")
_SIGNS = ("+", "-", " ", "\\")
_CHANGES = {"+": DisplayLineKind.ADDED, "-": DisplayLineKind.REMOVED}


def diff_lines(change: EditConfirmation) -> list[DisplayLine]:
    """Return the hunks of an edit, without the file header."""
    return [_display_line(line) for line in strip_file_header(change.file_diff)]


def patch_lines(patch: str) -> list[DisplayLine]:
    """Return the hunks of a diff of several files, each file with a heading."""
    lines: list[DisplayLine] = []
    header = 0
    for line in patch.removesuffix("\n").split("\n"):
        if line.startswith(FILE_HEADER):  # every other line begins with a sign
            lines.append(DisplayLine(DisplayLineKind.HUNK, sanitize_text(line.removeprefix(FILE_HEADER))))
            header = HEADER_LINES
        if header:
            header -= 1
        else:
            lines.append(_display_line(line))
    return lines


def full_file_lines(change: EditConfirmation) -> list[DisplayLine]:
    """Return the whole file with the hunks in place, empty if the old content is unknown."""
    if change.original_content is None:
        return []
    old = change.original_content.split("\n")
    lines: list[DisplayLine] = []
    at = 0
    for line in strip_file_header(change.file_diff):
        hunk = HUNK_HEADING.match(line)
        if hunk:
            start = int(hunk["old"]) - (hunk["old_count"] != "0")
            lines += _context_lines(old[at:start])
            at = start
        elif not lines and not line.startswith(_SIGNS):
            return []
        else:
            lines.append(_display_line(line))
            at += line[:1] in ("-", " ")
    return [*lines, *_context_lines(old[at : len(old) - (old[-1] == "")])]


def count_changed_lines(change: EditConfirmation) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines, None if unknown."""
    hunks = list(strip_file_header(change.file_diff))
    if any(HUNK_HEADING.match(line) for line in hunks):
        return sum(line[:1] == "+" for line in hunks), sum(line[:1] == "-" for line in hunks)
    stat = change.diff_stat
    return None if stat is None else (stat.model_added_lines, stat.model_removed_lines)


def is_new_file(change: EditConfirmation) -> bool:
    """Tell by the content while it is small, else by the first hunk."""
    if change.original_content is not None:
        return False
    first = next((hunk for line in strip_file_header(change.file_diff) if (hunk := HUNK_HEADING.match(line))), None)
    return change.new_content is not None if first is None else (first["old"], first["old_count"]) == ("0", "0")


def _context_lines(lines: Sequence[str]) -> Iterator[DisplayLine]:
    return (DisplayLine(DisplayLineKind.CONTEXT, f" {sanitize_text(line)}") for line in lines)


def _display_line(line: str) -> DisplayLine:
    """Return a line of a diff. The trailing blanks of changed lines are made visible."""
    shown = sanitize_text(line)
    if line[:1] in _CHANGES:
        kept = shown.rstrip(" \t")
        return DisplayLine(_CHANGES[line[:1]], kept + _BLANKS.sub(_escape_blanks, shown[len(kept) :]))
    return DisplayLine(DisplayLineKind.HUNK if HUNK_HEADING.match(line) else DisplayLineKind.CONTEXT, shown)


def _escape_blanks(blanks: re.Match[str]) -> str:
    count = len(blanks.group())
    return f"<U+{ord(blanks.group()[0]):04X}{f' x {count}' if count > 1 else ''}>"
