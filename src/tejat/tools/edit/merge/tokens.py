"""A text as words and signs with what parts them: white space, and what belongs to line breaks."""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from tejat.tools.edit.match.normalize import normalize_line

_COMMENT_PREFIXES = ("//", "#", "*", "--", ";", "%", ">")
_LINE_END = re.compile("\r\n?")
_OPENING, _CLOSING = "([{", ")]}"


class TokenSequence:
    """The words of a text and what stands before each: white space, and what comes and goes with line breaks.

    That is the mark of a comment at the beginning of a line, and a comma before a bracket that closes on a line of its
    own. Lines end with LF. `tail` is what stands behind the last word.
    """

    def __init__(self, text: str, mark: str = "") -> None:
        self.comment_prefix = mark
        plain = _LINE_END.sub("\n", text)
        # Blanks at the end are before no word, and to try each of them takes long where there are many.
        found = list(_pattern(mark).finditer(plain, 0, len(plain.rstrip())))
        self.spaces = [match[1] for match in found]
        self.words = [match[2] for match in found]
        self.starts = [match.start(2) for match in found]
        self.ends = [match.end(2) for match in found]
        self.keys = [normalize_line(word) for word in self.words]
        self.tail = plain[self.ends[-1] :] if found else plain

    def __len__(self) -> int:
        return len(self.words)

    def count_line_breaks(self, index: int) -> int:
        """How many line breaks stand before a word."""
        return self.spaces[index].count("\n")

    @cached_property
    def depths(self) -> list[int]:
        """In how many brackets each word stands; one that closes stands in its own."""
        depth = 0
        depths: list[int] = []
        for word in self.words:
            depths.append(depth)
            if word in _OPENING:
                depth += 1
            elif word in _CLOSING:
                depth = max(depth - 1, 0)
        return depths


def find_comment_prefix(lines: Sequence[str]) -> str:
    """What all lines that are not blank begin with, if that is the mark of a comment or a quotation."""
    bare = [f"{line.strip()} " for line in lines if line.strip()]
    return next((mark for mark in _COMMENT_PREFIXES if bare and all(line.startswith(f"{mark} ") for line in bare)), "")


@lru_cache(maxsize=16)
def _pattern(mark: str) -> re.Pattern[str]:
    of_comment = rf"(?:(?:\A|\n)[ \t]*{re.escape(mark)})|" if mark else ""
    return re.compile(rf"((?:{of_comment},(?=[ \t]*\n\s*[)\]}}])|\s)*)(\w+|[^\w\s])")
