"""Tells whether a line break falls amid a literal that ends on its line."""

import re
from collections.abc import Sequence

_NOT_QUOTES = re.compile(r"\"\"\"|'''|\\.|(?<=\w)'(?=\w)")
"""What looks like the quote of such a literal and is none."""


def breaks_inside_literal(before: str, behind: str) -> bool:
    """Whether a literal that began on the line before a break would end on the line behind it."""
    return spans_literal([before, behind])


def spans_literal(lines: Sequence[str]) -> bool:
    """Whether a literal begins on the first of several lines and ends on the last one."""
    first, *between, last = [_NOT_QUOTES.sub("", line) for line in lines]
    return any(
        first.count(quote) % 2 and last.count(quote) % 2 and not any(quote in line for line in between)
        for quote in ('"', "'")
    )


def has_broken_literal(text: str) -> bool:
    """Whether any line break of the text does."""
    lines = text.split("\n")
    return any(map(breaks_inside_literal, lines, lines[1:]))
