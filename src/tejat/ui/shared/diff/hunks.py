"""Parsing of unified diffs into hunks."""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen

HUNK_HEADING = re.compile(
    r"@@ -(?P<old>\d+)(?:,(?P<old_count>\d+))? \+(?P<new>\d+)(?:,(?P<new_count>\d+))? @@ ?(?P<section>.*)"
)
FILE_HEADER = "Index: "
"""Start of the first of HEADER_LINES lines that name a file."""
HEADER_LINES = 4


def strip_file_header(diff: str) -> Sequence[str]:
    """Return the lines of the diff of one file without its header."""
    lines = diff.removesuffix("\n").split("\n")
    return lines[HEADER_LINES:] if lines[0].startswith(FILE_HEADER) else lines


class HunkRanges(Frozen):
    """The lines that a hunk covers on both sides: numbers of the first and of the one after the last."""

    old_first: int
    old_end: int
    new_first: int
    new_end: int
    section: str = ""


class DiffHunk(Frozen):
    """Changed lines with their signs, the `@@` heading, and the file names before it."""

    names: tuple[str, ...]
    heading: str
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)

    @property
    def ranges(self) -> HunkRanges | None:
        """The line numbers of the heading, None if it has none. A side without lines begins after the given line."""
        found = HUNK_HEADING.match(self.heading)
        if found is None:
            return None
        old_count, new_count = (int(found[name] or 1) for name in ("old_count", "new_count"))
        old, new = int(found["old"]) + (not old_count), int(found["new"]) + (not new_count)
        return HunkRanges(old, old + old_count, new, new + new_count, found["section"])


def parse_hunks(diff: str) -> tuple[DiffHunk, ...]:
    """Parse the hunks of all files in order. Other lines become file names of the next hunk."""
    hunks: list[DiffHunk] = []
    names, lines = list[str](), list[str]()
    heading = ""
    old = new = 0
    for line in [*diff.removesuffix("\n").split("\n"), "@@"]:
        sign = line[:1]
        if heading and (sign == "\\" or (old > 0 and sign in "- ") or (new > 0 and sign in "+ ")):
            lines.append(line)
            old -= sign in ("-", " ", "")
            new -= sign in ("+", " ", "")
            continue
        if heading:
            hunks.append(DiffHunk(tuple(names), heading, tuple(lines)))
            names, lines, heading = [], [], ""
        if line.startswith("@@"):
            counts = HUNK_HEADING.match(line)
            heading = line
            old, new = (int(counts[name] or 1) for name in ("old_count", "new_count")) if counts else (0, 0)
        else:
            names.append(line)
    if names:
        hunks.append(DiffHunk(tuple(names), "", ()))
    return tuple(hunks)
