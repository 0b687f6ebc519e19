"""Text made safe to look at: what a terminal would obey or hide is shown instead."""

import re

from tejat.core.i18n import LazyString, map_lazy

# Compiled when first needed, like other patterns in this program that many runs can do without.
HIDDEN_CHARACTERS = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, separators, direction overrides
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, byte order mark
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand and musical controls, tags
    "\ud800-\udfff"  # half characters: bytes that were not text
    "]"
)


def sanitize_text(text: str) -> str:
    """The text with every control, hidden or direction-changing character written as `<U+XXXX>`."""
    if text.isascii() and text.isprintable():
        return text
    if isinstance(text, LazyString):
        return map_lazy(text, sanitize_text)
    return re.sub(HIDDEN_CHARACTERS, lambda found: f"<U+{ord(found.group()):04X}>", text)


def strip_hidden(text: str) -> str:
    """The text without those characters."""
    return re.sub(HIDDEN_CHARACTERS, "", text)
