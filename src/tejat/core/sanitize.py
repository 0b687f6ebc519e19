"""Text made safe for a terminal: control, hidden and direction-changing characters become visible."""

import re

from tejat.core.i18n import LazyString, map_lazy

# Compiled on first use, like other patterns that many runs do without.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, separators, direction overrides
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, byte order mark
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand and musical controls, tags
)
HIDDEN_CHARACTERS = f"[{_INVISIBLE}\ud800-\udfff]"
"""Invisible characters and surrogates, which stand for undecodable bytes."""
_EMOJI_JOINERS = frozenset({"\ufe0f", "\u200d"})
_MAX_NAMED = 5


def sanitize_text(text: str) -> str:
    """Replace hidden characters by `<U+XXXX>`. Newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    if isinstance(text, LazyString):
        return map_lazy(text, sanitize_text)
    return re.sub(HIDDEN_CHARACTERS, lambda found: f"<U+{ord(found.group()):04X}>", text)


def sanitize_line(text: str, *, keep_tabs: bool = False) -> str:
    """Sanitize text for one line of output: newlines and, unless kept, tabs are replaced by `<U+XXXX>` too."""
    if isinstance(text, LazyString):
        return map_lazy(text, lambda words: sanitize_line(words, keep_tabs=keep_tabs))
    line = sanitize_text(text).replace("\n", "<U+000A>")
    return line if keep_tabs else line.replace("\t", "<U+0009>")


def sanitize_summary(text: str) -> str:
    """Sanitize text for one line where its layout does not matter: each run of white space becomes one space."""
    if isinstance(text, LazyString):
        return map_lazy(text, sanitize_summary)
    return sanitize_text(" ".join(text.split()))


def strip_hidden(text: str) -> str:
    """Remove hidden characters."""
    return re.sub(HIDDEN_CHARACTERS, "", text)


def hidden_characters(text: str) -> str:
    """The first hidden characters of a text as `<U+XXXX>`, for a notice; empty if there are none.

    Emoji contain joiners and variation selectors, which need no notice.
    """
    hidden = sorted(set(re.findall(HIDDEN_CHARACTERS, text)) - _EMOJI_JOINERS)
    return ", ".join(map(sanitize_text, hidden[:_MAX_NAMED])) + (", ..." if len(hidden) > _MAX_NAMED else "")


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character: only white space and invisible ones, or nothing."""
    if "!" <= text.lstrip()[:1] <= "~":
        return False
    return re.search(rf"[^\s{_INVISIBLE}]", text) is None
