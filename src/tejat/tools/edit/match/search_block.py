"""The lines of `old_string`, prepared for the search."""

import re
from collections.abc import Sequence
from functools import cached_property

from tejat.tools.edit.match.normalize import is_distinctive, line_key

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
"""`...names,` is code."""
_MAX_ELISION_LENGTH = 400
"""Limit for the length of an elision, as the pattern is slow on long runs of blanks."""


class SearchBlock:
    """Lines of a text without their line ends; a final line end adds no empty line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @classmethod
    def from_text(cls, text: str) -> "SearchBlock":
        lines = split_lines(text)
        return cls(lines[:-1] if len(lines) > 1 and not lines[-1] else lines)

    @classmethod
    def for_edit(cls, old: str, new: str) -> "SearchBlock":
        """Split the old text. A line end that only the old text has at its end means a blank line."""
        lines = split_lines(old)
        if len(lines) > 1 and not lines[-1] and (not new or new.endswith(("\n", "\r"))):
            lines.pop()
        return cls(lines)

    @cached_property
    def keys(self) -> list[str]:
        return [line_key(line) for line in self.lines]

    @cached_property
    def distinctive(self) -> list[bool]:
        """Lines that could identify a place."""
        return [is_distinctive(key) and not elided for key, elided in zip(self.keys, self.elisions, strict=True)]

    @cached_property
    def elisions(self) -> list[bool]:
        """Lines that stand for omitted lines."""
        return [is_elision(line) for line in self.lines]

    @cached_property
    def first_nonblank(self) -> int:
        """First line that is not blank."""
        return next((index for index, key in enumerate(self.keys) if key), 0)

    @cached_property
    def last_nonblank(self) -> int:
        """Last line that is not blank."""
        return next((index for index in range(len(self.keys) - 1, -1, -1) if self.keys[index]), 0)


def split_lines(text: str) -> list[str]:
    """Split at all kinds of line ends; a final line end adds an empty line."""
    return normalize_line_endings(text).split("\n")


def normalize_line_endings(text: str) -> str:
    """Convert all line ends to LF."""
    return _LINE_END.sub("\n", text)


def is_elision(line: str) -> bool:
    """Check whether a line is only a placeholder for other lines, such as `# ...`."""
    bare = line.strip()
    if not 0 < len(bare) <= _MAX_ELISION_LENGTH or ("..." not in bare and "…" not in bare) or _SPREAD.fullmatch(bare):
        return False
    return _ELISION.fullmatch(bare) is not None


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def count_leading_blank(lines: Sequence[str]) -> int:
    """Number of leading blank lines."""
    return next((index for index, line in enumerate(lines) if line.strip()), len(lines))


def contains_in_order(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Check that the wanted lines occur in this order."""
    rest = iter(lines)
    return all(line in rest for line in wanted)
