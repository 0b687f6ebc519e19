"""File mentions in prompts: `@path` with escaped spaces, or `@"path"`."""

import re

from tejat.core.frozen import Frozen

# Not within a word, so that an e-mail address is not a mention. Spaces and commas in names need a backslash.
_SIGN = r"(?<![A-Za-z0-9_.%+\-\\@/])@"
_NAME_DELIMITERS = r"\s,;!?()\[\]{}\\，。；！？（）【】「」、"
MENTION_PATTERN = rf"""{_SIGN}(?:"(?P<quoted>(?:\\.|[^"\\\n])+)"|(?P<plain>(?:\\.|[^{_NAME_DELIMITERS}])+))"""

_PARTIAL_MENTION = rf"""{_SIGN}(?:"(?P<quoted>(?:\\.|[^"\\\n])*)|(?P<plain>(?!")(?:\\.|[^{_NAME_DELIMITERS}])*))\Z"""
_ESCAPED = r"\\(.)"
_MAX_LENGTH = 8192


class PartialMention(Frozen):
    """A mention being typed: the position of its `@` and the unescaped name so far."""

    start: int
    name: str
    is_quoted: bool


def escape_signs(text: str) -> str:
    """Write every `@` so that it mentions nothing."""
    return text.replace("@", r"\@")


def unescape_signs(text: str) -> str:
    """Undo `escape_signs`."""
    return text.replace(r"\@", "@")


def unescape_mention(name: str) -> str:
    """Remove the backslashes from a name."""
    return re.sub(_ESCAPED, r"\1", name)


def format_mention(path: str, *, is_quoted: bool = False) -> str:
    """Write a path as a mention. A quoted directory is left open, so that it can be continued."""
    if is_quoted:
        quoted = re.sub(r'["\\]', r"\\\g<0>", path)
        return f'@"{quoted}' if path.endswith("/") else f'@"{quoted}"'
    escaped = re.sub(f"[{_NAME_DELIMITERS}]", r"\\\g<0>", path)
    return f"@\\{escaped}" if escaped.startswith('"') else f"@{escaped}"


def find_partial_mention(text: str) -> PartialMention | None:
    """The unfinished mention at the end of a text, or None."""
    offset = max(len(text) - _MAX_LENGTH, 0)
    found = re.search(_PARTIAL_MENTION, text[offset:])
    if found is None:
        return None
    quoted = found["quoted"]
    name = found["plain"] if quoted is None else quoted
    return PartialMention(offset + found.start(), unescape_mention(name), quoted is not None)
