"""File headers of a diff: our own, those of git and of diff."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tejat.core.frozen import Frozen
from tejat.core.i18n import _

_STARTS = ("diff --git ", "Index: ")
_NO_FILE = "/dev/null"
_RULE = "=" * 20
_GIT_DETAILS = ("index ", "similarity index ", "dissimilarity index ")
_GIT_NAMES = r'diff --git "?a/(?P<old>.*?)"? "?b/(?P<new>.*?)"?$'


class FileHeader(Frozen):
    """The title of a file, empty if the lines name none, and the lines that say something else.

    The hunks that follow belong to the last header.
    """

    title: str
    notes: tuple[str, ...]
    is_last: bool


def parse_file_headers(lines: Sequence[str]) -> Iterator[FileHeader]:
    """Parse the lines before a hunk. A title says when the file is new, deleted or renamed."""
    starts = [number for number, line in enumerate(lines) if number and line.startswith(_STARTS)]
    for start, end in pairwise([0, *starts, len(lines)]):
        yield _parse_header(lines[start:end], is_last=end == len(lines))


def _parse_header(lines: Sequence[str], *, is_last: bool) -> FileHeader:
    old = new = ""
    is_git = False
    notes: list[str] = []
    for line in lines:
        if line.startswith("diff --git "):
            found = re.match(_GIT_NAMES, line)
            old, new = (found["old"], found["new"]) if found else ("", "")
            is_git = True
        elif line.startswith("Index: "):
            old = new = line.removeprefix("Index: ")
        elif line.startswith("--- "):
            old = _name(line, "a/", is_git=is_git)
        elif line.startswith("+++ "):
            new = _name(line, "b/", is_git=is_git)
        elif line.startswith("new file mode ") and is_git:
            old = _NO_FILE
        elif line.startswith("deleted file mode ") and is_git:
            new = _NO_FILE
        elif line.startswith(("rename from ", "copy from ")) and is_git:
            old = line.split(" ", 2)[2]
        elif line.startswith(("rename to ", "copy to ")) and is_git:
            new = line.split(" ", 2)[2]
        elif line and not line.startswith(_RULE) and not (is_git and line.startswith(_GIT_DETAILS)):
            notes.append(line)
    return FileHeader(_title(old, new), tuple(notes), is_last)


def _name(line: str, prefix: str, *, is_git: bool) -> str:
    name = line[4:].partition("\t")[0]
    return name.removeprefix(prefix) if is_git else name


def _title(old: str, new: str) -> str:
    if not old or not new:
        return old or new
    if old == _NO_FILE:
        return _("{name} (new file)", name=new)
    if new == _NO_FILE:
        return _("{name} (deleted)", name=old)
    if old == new or (old.startswith("a/") and new.startswith("b/") and old[2:] == new[2:]):
        return new.removeprefix("b/") if old != new else new
    return _("{name} (was {old})", name=new, old=old)
