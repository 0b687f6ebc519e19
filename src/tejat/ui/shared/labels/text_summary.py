"""Text shortened to one line."""

import re

from tejat.core.i18n import ngettext, translate
from tejat.core.sanitize import sanitize_summary

_SUBJECT = r"\*\*(.+?)\*\*"
MAX_LINE_CHARS = 300
"""Longest summary line."""


def summarize_line(text: str, *, limit: int = MAX_LINE_CHARS) -> str:
    """Return the first line of a text, sanitized and shortened, and the number of further lines."""
    text = translate(text)
    lines = text[: 20 * limit].strip().splitlines()
    if not lines:
        return ""
    first = sanitize_summary(lines[0])
    if len(first) > limit:
        first = f"{first[:limit]} [...]"
    more = text.strip().count("\n") if len(lines) > 1 else 0
    if not more:
        return first
    return first + " " + ngettext("(and {count} more line)", "(and {count} more lines)", more)


def thought_subject(thought: str) -> str:
    """Return the heading of the latest thought, else its first line."""
    headings = re.findall(_SUBJECT, thought)
    return summarize_line(headings[-1] if headings else thought.strip().partition("\n")[0], limit=100)
