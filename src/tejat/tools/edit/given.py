"""The lines that an edit gave, ready to be looked for."""

import re
from collections.abc import Sequence
from functools import cached_property

from tejat.tools.edit.folding import is_telling, key_of

_LINE_END = re.compile("\r\n?")
_OPENS = r"(?://+|\#+|--|/\*+|<!--|;+|%+|\*)"
_CLOSES = r"(?:\*+/|-->)"
_DOTS = r"(?:\.{3,}|…)"
_LEFT_OUT = r"(?:existing|rest|remaining|remainder|unchanged|same|omitted|previous|other|body|snip|as before)"
_ELISION = re.compile(
    rf"{_OPENS}?\s*[\[({{<]?\s*(?:{_DOTS}[\w',:; ]{{0,60}}{_DOTS}?|[\w' ]{{0,30}}\b{_LEFT_OUT}\b[\w' ]{{0,30}}{_DOTS})"
    rf"\s*[\])}}>]?\s*{_CLOSES}?",
    re.IGNORECASE,
)
_SPREAD = re.compile(r"\.\.\.[\w.$]+[,;)\]}]*")
"""`...names,` is code of its own."""
_LONGEST = 400
"""Characters of a line that stands for others; with more blanks in it, it would take long to tell."""


class Given:
    """The lines of a text that was given, without their ends; the last one without the empty line behind its end."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @classmethod
    def of(cls, text: str) -> "Given":
        lines = plain_lines(text)
        return cls(lines[:-1] if len(lines) > 1 and not lines[-1] else lines)

    @classmethod
    def for_new(cls, old: str, new: str) -> "Given":
        """The lines of the old text. If it ends a line and the new one does not, a blank line behind it is meant."""
        lines = plain_lines(old)
        if len(lines) > 1 and not lines[-1] and (not new or new.endswith(("\n", "\r"))):
            lines.pop()
        return cls(lines)

    @cached_property
    def keys(self) -> list[str]:
        return [key_of(line) for line in self.lines]

    @cached_property
    def telling(self) -> list[bool]:
        """Which lines could tell one place from another."""
        return [is_telling(key) and not elided for key, elided in zip(self.keys, self.elisions, strict=True)]

    @cached_property
    def elisions(self) -> list[bool]:
        """Which lines stand for others that were left out."""
        return [is_elision(line) for line in self.lines]

    @cached_property
    def first(self) -> int:
        """The first line that is not blank."""
        return next((index for index, key in enumerate(self.keys) if key), 0)

    @cached_property
    def last(self) -> int:
        """The last line that is not blank."""
        return next((index for index in range(len(self.keys) - 1, -1, -1) if self.keys[index]), 0)


def plain_lines(text: str) -> list[str]:
    """The lines of a text, whatever they end with; behind a line end is one more."""
    return _LINE_END.sub("\n", text).split("\n")


def is_elision(line: str) -> bool:
    """Whether a line is nothing but a stand-in for others, such as `# ...`."""
    bare = line.strip()
    if not 0 < len(bare) <= _LONGEST or ("..." not in bare and "…" not in bare) or _SPREAD.fullmatch(bare):
        return False
    return _ELISION.fullmatch(bare) is not None


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def holds(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all wanted lines are among the lines, in their order."""
    rest = iter(lines)
    return all(line in rest for line in wanted)
