"""Detection of omission placeholders in generated text, such as `// rest of code ...`."""

import re
from collections.abc import Iterator

_MAX_LINE_LENGTH = 200
_MAX_LENGTH = 4 * 2**20
"""Longer texts are not searched: no model writes as much at once."""
_KEYWORDS = ("rest", "unchanged", "remaining", "existing", "previous")
_COMMENT = re.compile(r"(?://|#|--|/\*|<!--)? ?\(? ?(.*?) ?\)? ?(?:\*/|-->)?")
_LISTING_MARKS = re.compile(r"(?:\n|\\n)(?:[ \t]*(?:[-+>|│┃\"'`]|[Ll]?\d{1,7}\s?[:|│→.)\t]))*")
"""Listing marks before a line; the line break may be escaped."""
_PLACEHOLDER = re.compile(
    # No real text ends a line like this.
    r"(?:rest of|rest of methods?|rest of code|unchanged code|unchanged methods?) ?\.{3,}"
    # Explicit, with or without dots.
    r"|(?:\.{3,} ?)?(?:the )?(?:rest of|remaining) (?:the )?(?:file|code|content|methods?|functions?|class) "
    r"(?:(?:is|are|remains?|stays?) )?(?:unchanged|the same|as before|as is) ?\.*"
    # With dots before the words.
    r"|\.{3,} ?(?:the )?(?:existing|previous|unchanged|remaining|rest of(?: the)?) "
    r"(?:file|code|content|methods?|functions?|class|imports?|implementation|body) ?\.*"
)


def find_omission_placeholders(text: str) -> set[str]:
    """Find the lines that are omission placeholders, in normalized form.

    Comment marks and brackets around a placeholder are allowed, other text is not.
    """
    if len(text) > _MAX_LENGTH:
        return set()
    lines = (" ".join(line.split()) for line in _candidate_lines(text.lower()))
    bare = (found[1] for line in lines if (found := _COMMENT.fullmatch(line)))
    return {line.strip(". ") for line in bare if _PLACEHOLDER.fullmatch(line)}


def new_placeholders(new: str, old: str) -> set[str]:
    """Find placeholders that the old text does not have, even with listing marks."""
    found = find_omission_placeholders(new)
    return found - find_omission_placeholders(_LISTING_MARKS.sub("\n", f"\n{old}")) if found else found


def _candidate_lines(text: str) -> Iterator[str]:
    """Lines with one of the keywords; long lines are no placeholders."""
    for word in _KEYWORDS:
        at = text.find(word)
        while at >= 0:
            first, last = max(at - _MAX_LINE_LENGTH, 0), min(at + _MAX_LINE_LENGTH, len(text))
            start, end = text.rfind("\n", first, at), text.find("\n", at, last)
            looked_at = end if end >= 0 else last
            if (start >= 0 or first == 0) and (end >= 0 or last == len(text)):
                yield text[start + 1 : looked_at]
            at = text.find(word, looked_at)
