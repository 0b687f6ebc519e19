"""Words and punctuation of a text with the white space between them."""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from tejat.tools.edit.match.normalize import line_key
from tejat.tools.edit.match.search_block import normalize_line_endings

_COMMENT_PREFIXES = ("//", "#", "*", "--", ";", "%", ">")
OPENING_BRACKETS, CLOSING_BRACKETS = "([{", ")]}"


class TokenSequence:
    """Words of a text and the space before each.

    The space includes what comes and goes with line breaks: the comment prefix of a line, and a comma before a closing
    bracket on a line of its own. Lines end with LF. `tail` follows the last word.
    """

    def __init__(self, text: str, mark: str = "") -> None:
        self.comment_prefix = mark
        plain = normalize_line_endings(text)
        # Trailing blanks precede no word, and matching each of them is slow.
        found = list(_pattern(mark).finditer(plain, 0, len(plain.rstrip())))
        self.spaces = [match[1] for match in found]
        self.words = [match[2] for match in found]
        self.starts = [match.start(2) for match in found]
        self.ends = [match.end(2) for match in found]
        self.keys = [line_key(word) for word in self.words]
        self.tail = plain[self.ends[-1] :] if found else plain

    def __len__(self) -> int:
        return len(self.words)

    def line_breaks(self, index: int) -> int:
        """Number of line breaks before a word."""
        return self.spaces[index].count("\n")

    @cached_property
    def depths(self) -> list[int]:
        """Bracket depth of each word; a closing bracket counts as inside."""
        depth = 0
        depths: list[int] = []
        for word in self.words:
            depths.append(depth)
            if word in OPENING_BRACKETS:
                depth += 1
            elif word in CLOSING_BRACKETS:
                depth = max(depth - 1, 0)
        return depths


def find_comment_prefix(lines: Sequence[str]) -> str:
    """Find the comment or quotation prefix that all nonblank lines have."""
    bare = [f"{line.strip()} " for line in lines if line.strip()]
    return next((mark for mark in _COMMENT_PREFIXES if bare and all(line.startswith(f"{mark} ") for line in bare)), "")


@lru_cache(maxsize=16)
def _pattern(mark: str) -> re.Pattern[str]:
    of_comment = rf"(?:(?:\A|\n)[ \t]*{re.escape(mark)})|" if mark else ""
    return re.compile(rf"((?:{of_comment},(?=[ \t]*\n\s*[)\]}}])|\s)*)(\w+|[^\w\s])")
