"""Finds stand-ins for text that a model left out, such as a line `// rest of code ...`."""

import re
from collections.abc import Iterator

_LONGEST = 200
_TELLING = re.compile(r"rest[^\S\n]+of|unchanged|remaining", re.IGNORECASE)
_COMMENT = re.compile(r"(?://|#|--|/\*|<!--)? ?\(? ?(.*?) ?\)? ?(?:\*/|-->)?")
_STAND_IN = re.compile(
    # Nobody ends a line of a real text so.
    r"(?:rest of|rest of methods?|rest of code|unchanged code|unchanged methods?) ?\.{3,}"
    # These say it in so many words, with dots around or without.
    r"|(?:\.{3,} ?)?(?:the )?(?:rest of|remaining) (?:the )?(?:file|code|content|methods?|functions?|class) "
    r"(?:(?:is|are|remains?|stays?) )?(?:unchanged|the same|as before|as is) ?\.*"
)


def omission_placeholders(text: str) -> set[str]:
    """The lines of the text that stand for something left out, in one spelling each.

    A line counts only if it is nothing but the stand-in: the marks of a comment before and behind it and brackets
    around it are allowed.
    """
    lines = (" ".join(line.split()).lower() for line in _telling_lines(text))
    bare = (found[1] for line in lines if (found := _COMMENT.fullmatch(line)))
    return {line.strip(". ") for line in bare if _STAND_IN.fullmatch(line)}


def _telling_lines(text: str) -> Iterator[str]:
    """The lines that are worth a closer look: in a large file they are few, and a long one is no stand-in."""
    looked_at = 0
    for word in _TELLING.finditer(text):
        if word.start() < looked_at:
            continue
        first, last = max(word.start() - _LONGEST, 0), min(word.end() + _LONGEST, len(text))
        start, end = text.rfind("\n", first, word.start()), text.find("\n", word.end(), last)
        looked_at = end if end >= 0 else last
        if (start >= 0 or first == 0) and (end >= 0 or last == len(text)):
            yield text[start + 1 : looked_at]
