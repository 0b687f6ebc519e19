"""Comments in code, which models often remember by their sense."""

import re
from functools import lru_cache
from typing import NamedTuple

from tejat.tools.edit.match.normalize import find_numbers, line_key, strip_escapes
from tejat.tools.edit.weights import MAX_COMPARED_LENGTH

_MARK = r"(?:\#(?=\s)|//+|--(?=\s)|/\*+|<!--|;+(?=\s)|%+(?=\s)|\"\"\"|\'\'\')"
_WHOLE = re.compile(rf"\s*(?P<mark>{_MARK})\s*(?P<text>\S.*)|\s+(?P<star>\*)\s+(?P<item>\S.*)")
_TRAILING = re.compile(r"(?<=\S)\s+(?P<mark>\#|//)\s+(?P<text>[^\"\'`]*)\Z")
_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM_LENGTH = 4
_MIN_COMMON_SHARE = 4
"""One in this many words has to be the same, up to its ending."""
_MIN_WORDS = 2


class Comment(NamedTuple):
    """The key of the code before a comment, its mark and its text."""

    code: str
    mark: str
    text: str


def split_comment(line: str) -> Comment | None:
    """Split a line at its comment; None if it has none or is very long."""
    if len(line) > MAX_COMPARED_LENGTH:
        return None
    if whole := _WHOLE.fullmatch(line):
        return Comment("", whole["mark"] or whole["star"], whole["text"] or whole["item"])
    trailing = _TRAILING.search(line) if "#" in line or "//" in line else None
    code = "" if trailing is None else line[: trailing.start()]
    if trailing is None or any(code.count(quote) % 2 for quote in "\"'`"):
        return None
    return Comment(line_key(code), trailing["mark"], trailing["text"])


def is_reworded_comment(given: Comment, found: Comment | None) -> bool:
    """Check that two lines have the same code, and comments with some words in common."""
    if found is None or given.code != found.code or given.mark != found.mark:
        return False
    numbers, there = find_numbers(given.text), find_numbers(found.text)
    if numbers and there and numbers != there:
        return False
    left, right = _stems(given.text), _stems(found.text)
    fewer = min(len(left), len(right))
    return fewer >= _MIN_WORDS and _MIN_COMMON_SHARE * len(left & right) >= fewer


@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM_LENGTH] for word in _WORD.findall(strip_escapes(text.lower())))
