"""A change of a file, line by line: the changed places alone, or the whole file with them."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.confirm import EditConfirmation
from tejat.core.visible import visible
from tejat.frontends.questions.lines import Line, LineKind

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<old_count>\d+))? \+(?P<new>\d+)(?:,(?P<new_count>\d+))? @@")
_BLANKS = re.compile(r" +|\t+")
_HEADER_LINES = 4
_NAMES_A_FILE = "Index: "
_KINDS = {"+": LineKind.ADDED, "-": LineKind.REMOVED, " ": LineKind.CONTEXT, "\\": LineKind.CONTEXT}


def changed_lines(change: EditConfirmation) -> list[Line]:
    """The hunks of the patch; what names the file at its top is left out."""
    return [_line(line) for line in _hunks(change.file_diff)]


def patch_lines(patch: str) -> list[Line]:
    """The hunks of a patch of several files, each file with one line that names it."""
    lines: list[Line] = []
    header = 0
    for line in patch.removesuffix("\n").split("\n"):
        if line.startswith(_NAMES_A_FILE):  # no other line begins without a sign of its own
            lines.append(Line(LineKind.HUNK, visible(line.removeprefix(_NAMES_A_FILE))))
            header = _HEADER_LINES
        if header:
            header -= 1
        else:
            lines.append(_line(line))
    return lines


def whole_lines(change: EditConfirmation) -> list[Line]:
    """The file with the hunks in their places, empty where the old content or the places are not known."""
    if change.original_content is None:
        return []
    old = change.original_content.split("\n")
    lines: list[Line] = []
    at = 0
    for line in _hunks(change.file_diff):
        hunk = _HUNK.match(line)
        if hunk:
            start = int(hunk["old"]) - (hunk["old_count"] != "0")
            lines += _kept(old[at:start])
            at = start
        elif not lines and not line.startswith(tuple(_KINDS)):
            return []
        else:
            lines.append(_line(line))
            at += line[:1] in ("-", " ")
    return [*lines, *_kept(old[at : len(old) - (old[-1] == "")])]


def counts_of(change: EditConfirmation) -> tuple[int, int] | None:
    """Lines added and removed, None where nobody counted them."""
    hunks = list(_hunks(change.file_diff))
    if any(_HUNK.match(line) for line in hunks):
        return sum(line[:1] == "+" for line in hunks), sum(line[:1] == "-" for line in hunks)
    stat = change.diff_stat
    return None if stat is None else (stat.model_added_lines, stat.model_removed_lines)


def is_new_file(change: EditConfirmation) -> bool:
    """Known from the content while it is small, else from where the change is said to begin."""
    if change.original_content is not None:
        return False
    first = next((hunk for line in _hunks(change.file_diff) if (hunk := _HUNK.match(line))), None)
    return change.new_content is not None if first is None else (first["old"], first["old_count"]) == ("0", "0")


def _hunks(patch: str) -> Sequence[str]:
    lines = patch.removesuffix("\n").split("\n")
    return lines[_HEADER_LINES:] if lines[0].startswith(_NAMES_A_FILE) else lines


def _kept(lines: Sequence[str]) -> Iterator[Line]:
    return (Line(LineKind.CONTEXT, f" {visible(line)}") for line in lines)


def _line(line: str) -> Line:
    kind = LineKind.HUNK if _HUNK.match(line) else _KINDS.get(line[:1], LineKind.CONTEXT)
    shown = visible(line)
    return Line(kind, _with_end_shown(shown) if kind in (LineKind.ADDED, LineKind.REMOVED) else shown)


def _with_end_shown(line: str) -> str:
    """A changed line whose blanks at the end can be seen."""
    kept = line.rstrip(" \t")
    return kept + _BLANKS.sub(_spelled, line[len(kept) :])


def _spelled(blanks: re.Match[str]) -> str:
    count = len(blanks.group())
    return f"<U+{ord(blanks.group()[0]):04X}{f' x {count}' if count > 1 else ''}>"
