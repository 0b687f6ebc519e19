"""The lines that an edit gave, ready to be looked for."""

import re
from collections.abc import Sequence
from functools import cached_property

from tejat.tools.edit.match.normalize import is_distinctive, normalize_line

_LINE_END = re.compile("\r\n?")
_COMMENT_OPENERS = r"(?://+|\#+|--|/\*+|<!--|;+|%+|\*)"
_COMMENT_CLOSERS = r"(?:\*+/|-->)"
_DOTS = r"(?:\.{3,}|…)"
_OMISSION_WORDS = r"(?:existing|rest|remaining|remainder|unchanged|same|omitted|previous|other|body|snip|as before)"
_ELISION = re.compile(
    rf"{_COMMENT_OPENERS}?\s*[\[({{<]?\s*"
    rf"(?:{_DOTS}[\w',:; ]{{0,60}}{_DOTS}?|[\w' ]{{0,30}}\b{_OMISSION_WORDS}\b[\w' ]{{0,30}}{_DOTS})"
    rf"\s*[\])}}>]?\s*{_COMMENT_CLOSERS}?",
    re.IGNORECASE,
)
_SPREAD = re.compile(r"\.\.\.[\w.$]+[,;)\]}]*")
"""`...names,` is code of its own."""
_MAX_ELISION_LENGTH = 400
"""Characters of a line that stands for others; with more blanks in it, it would take long to tell."""


class SearchBlock:
    """The lines of a text that was given, without their ends; the last one without the empty line behind its end."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @classmethod
    def from_text(cls, text: str) -> "SearchBlock":
        lines = split_lines(text)
        return cls(lines[:-1] if len(lines) > 1 and not lines[-1] else lines)

    @classmethod
    def for_edit(cls, old: str, new: str) -> "SearchBlock":
        """The lines of the old text. If it ends a line and the new one does not, a blank line behind it is meant."""
        lines = split_lines(old)
        if len(lines) > 1 and not lines[-1] and (not new or new.endswith(("\n", "\r"))):
            lines.pop()
        return cls(lines)

    @cached_property
    def keys(self) -> list[str]:
        return [normalize_line(line) for line in self.lines]

    @cached_property
    def distinctive(self) -> list[bool]:
        """Which lines could tell one place from another."""
        return [is_distinctive(key) and not elided for key, elided in zip(self.keys, self.elisions, strict=True)]

    @cached_property
    def elisions(self) -> list[bool]:
        """Which lines stand for others that were left out."""
        return [is_elision(line) for line in self.lines]

    @cached_property
    def first_nonblank(self) -> int:
        """The first line that is not blank."""
        return next((index for index, key in enumerate(self.keys) if key), 0)

    @cached_property
    def last_nonblank(self) -> int:
        """The last line that is not blank."""
        return next((index for index in range(len(self.keys) - 1, -1, -1) if self.keys[index]), 0)


def split_lines(text: str) -> list[str]:
    """The lines of a text, whatever they end with; behind a line end is one more."""
    return _LINE_END.sub("\n", text).split("\n")


def is_elision(line: str) -> bool:
    """Whether a line is nothing but a stand-in for others, such as `# ...`."""
    bare = line.strip()
    if not 0 < len(bare) <= _MAX_ELISION_LENGTH or ("..." not in bare and "…" not in bare) or _SPREAD.fullmatch(bare):
        return False
    return _ELISION.fullmatch(bare) is not None


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def contains_in_order(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all wanted lines are among the lines, in their order."""
    rest = iter(lines)
    return all(line in rest for line in wanted)
