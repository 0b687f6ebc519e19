"""Finds stand-ins for text that a model left out, such as a line `// rest of code ...`."""

import re
from collections.abc import Iterator

_MAX_LINE_LENGTH = 200
_KEYWORDS = ("rest", "unchanged", "remaining", "existing", "previous")
_COMMENT = re.compile(r"(?://|#|--|/\*|<!--)? ?\(? ?(.*?) ?\)? ?(?:\*/|-->)?")
_LISTING_MARKS = re.compile(r"(?:\n|\\n)(?:[ \t]*(?:[-+>|│┃\"'`]|[Ll]?\d{1,7}\s?[:|│→.)\t]))*")
"""What may stand before a line that was copied from a listing; the line break may be an escape."""
_PLACEHOLDER = re.compile(
    # Nobody ends a line of a real text so.
    r"(?:rest of|rest of methods?|rest of code|unchanged code|unchanged methods?) ?\.{3,}"
    # These say it in so many words, with dots around or without.
    r"|(?:\.{3,} ?)?(?:the )?(?:rest of|remaining) (?:the )?(?:file|code|content|methods?|functions?|class) "
    r"(?:(?:is|are|remains?|stays?) )?(?:unchanged|the same|as before|as is) ?\.*"
    # Dots around the words make them one too.
    r"|\.{3,} ?(?:the )?(?:existing|previous|unchanged|remaining|rest of(?: the)?) "
    r"(?:file|code|content|methods?|functions?|class|imports?|implementation|body) ?\.*"
)


def find_omission_placeholders(text: str) -> set[str]:
    """The lines of the text that stand for something left out, in one spelling each.

    A line counts only if it is nothing but the stand-in: the marks of a comment before and behind it and brackets
    around it are allowed.
    """
    lines = (" ".join(line.split()) for line in _candidate_lines(text.lower()))
    bare = (found[1] for line in lines if (found := _COMMENT.fullmatch(line)))
    return {line.strip(". ") for line in bare if _PLACEHOLDER.fullmatch(line)}


def new_placeholders(new: str, old: str) -> set[str]:
    """Those of the new text that the old one has not, not even with marks of a listing around them."""
    found = find_omission_placeholders(new)
    return found - find_omission_placeholders(_LISTING_MARKS.sub("\n", f"\n{old}")) if found else found


def _candidate_lines(text: str) -> Iterator[str]:
    """The lines that are worth a closer look: in a large file they are few, and a long one is no stand-in."""
    for word in _KEYWORDS:
        at = text.find(word)
        while at >= 0:
            first, last = max(at - _MAX_LINE_LENGTH, 0), min(at + _MAX_LINE_LENGTH, len(text))
            start, end = text.rfind("\n", first, at), text.find("\n", at, last)
            looked_at = end if end >= 0 else last
            if (start >= 0 or first == 0) and (end >= 0 or last == len(text)):
                yield text[start + 1 : looked_at]
            at = text.find(word, looked_at)
