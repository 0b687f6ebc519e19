"""Detection of line breaks inside string literals."""

import re
from collections.abc import Sequence

_NOT_QUOTES = re.compile(r"\"\"\"|'''|\\.|(?<=\w)'(?=\w)")
"""Text that looks like a quote and is none."""


def breaks_inside_literal(before: str, behind: str) -> bool:
    """Check whether a literal starts on one line and ends on the next."""
    return spans_literal([before, behind])


def spans_literal(lines: Sequence[str]) -> bool:
    """Check whether a literal starts on the first line and ends on the last one."""
    first, *between, last = [_NOT_QUOTES.sub("", line) for line in lines]
    open_ones = (quote for quote in ('"', "'") if first.count(quote) % 2 and last.count(quote) % 2)
    return any(not any(quote in line for line in between) for quote in open_ones)


def has_broken_literal(text: str) -> bool:
    """Check whether any line break is inside a literal."""
    lines = text.split("\n")
    return any(map(breaks_inside_literal, lines, lines[1:]))
