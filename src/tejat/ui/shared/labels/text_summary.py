"""Text shortened to one line."""

from tejat.core.i18n import ngettext, translate
from tejat.core.sanitize import sanitize_summary

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
