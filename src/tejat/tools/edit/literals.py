"""Tells whether a line break falls amid a literal that ends on its line."""

import re

_NOT_QUOTES = re.compile(r"\"\"\"|'''|\\.|(?<=\w)'(?=\w)")
"""What looks like the quote of such a literal and is none."""


def is_amid_a_literal(before: str, behind: str) -> bool:
    """Whether a literal that began on the line before a break would end on the line behind it."""
    left, right = _NOT_QUOTES.sub("", before), _NOT_QUOTES.sub("", behind)
    return any(left.count(quote) % 2 and right.count(quote) % 2 for quote in ('"', "'"))


def breaks_a_literal(text: str) -> bool:
    """Whether any line break of the text does."""
    lines = text.split("\n")
    return any(map(is_amid_a_literal, lines, lines[1:]))
