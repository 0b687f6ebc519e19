"""Streaming sanitizer: drops control sequences and shows hidden characters."""

import re
from functools import cache, lru_cache

from tejat.core.i18n import translate
from tejat.core.sanitize import HIDDEN_CHARACTERS, sanitize_text

TAB_WIDTH = 4
"""Columns between tab stops."""
_JOINERS = "\u200c\u200d\ufe0f"


def make_terminal_safe(text: str) -> str:
    """Sanitize a whole text as `TerminalSanitizer` does. Newlines stay."""
    text = translate(text)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    if "\t" not in text and _special().search(text) is None:
        return text
    sanitizer = TerminalSanitizer()
    return sanitizer.feed(text) + sanitizer.finish()


def escape_typed(text: str) -> str:
    """Show every hidden character of a text that the user typed, except for the joiners of emoji and some scripts.

    Newlines and tabs stay.
    """
    if text.isascii() or not any(joiner in text for joiner in _JOINERS):
        return sanitize_text(text)
    return "".join(escape_typed_at(text, at) for at in range(len(text)))


def escape_typed_at(text: str, at: int) -> str:
    """Return one character of a typed text as `escape_typed` shows it."""
    character = text[at]
    escaped = sanitize_text(character)
    if character not in _JOINERS or at == 0:
        return escaped
    before = at - 2 if text[at - 1] == "\ufe0f" else at - 1
    return escaped if escaped in make_terminal_safe(text[max(before, 0) : at + 2]) else character


class TerminalSanitizer:
    """Sanitizes text in chunks; chunk boundaries make no difference.

    Control sequences are dropped; of a link the address is shown, which the text may belie. Only the introducer of an
    unterminated sequence is dropped: hiding the rest would be worse. Other control characters, including a lone
    carriage return or backspace, and hidden or direction-changing characters become `<U+XXXX>`, except for the joiners
    and selectors of emoji and some scripts. Tabs become blanks.

    `tejat.core.sanitize` has the strict form without those exceptions.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._column = 0

    def feed(self, chunk: str) -> str:
        """Return what can be shown now. Unfinished sequences are held back, at most about a kilobyte."""
        text = self._held + chunk
        if text.isascii() and text.isprintable():
            self._held, self._before = "", text[-2:] or self._before
            self._column += len(text)
            return text
        unfinished = _unfinished().search(text)
        end = len(text) if unfinished is None else unfinished.start()
        self._held = text[end:]
        return self._sanitize(text[:end], text[end : end + 1])

    def finish(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return self._sanitize(rest, "")

    def _sanitize(self, text: str, after: str) -> str:
        """Sanitize `text`; `after` is the following character, for lookahead only."""
        start = len(self._before)
        around = self._before + text + after
        end = len(around) - len(after)
        parts: list[str] = []
        done = start
        for found in _special().finditer(around, start):
            if found.start() >= end:
                break
            parts.append(around[done : found.start()])
            parts.append(_replacement(found))
            done = found.end()
        parts.append(around[done:end])
        self._before = around[max(end - 2, 0) : end]
        return self._expand_tabs("".join(parts))

    def _expand_tabs(self, text: str) -> str:
        start = self._column % TAB_WIDTH
        if "\t" in text:
            text = (" " * start + text).expandtabs(TAB_WIDTH)[start:]
        newline = text.rfind("\n")
        self._column = len(text) - newline - 1 if newline >= 0 else self._column + len(text)
        return text


def _replacement(found: re.Match[str]) -> str:
    """Return the replacement of a special match."""
    if found["kept"]:
        return found["kept"]
    if found["address"]:
        return f"<{sanitize_text(found['address'])}> "
    if found["sequence"]:
        return ""
    return "\n" if found[0] == "\r\n" else _escape(found[0])


@lru_cache(64)
def _escape(character: str) -> str:
    return sanitize_text(character)


# Every part is bounded and stops at the next introducer, so that matching takes linear time.
_STRING_START = "(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])"
_STRING = "[^\x07\x1b\x80-\x9f\n]{0,1024}+"
_LINK = "(?:\x1b\\]|\x9d)8;[^;\x00-\x1f\x7f-\x9f]{0,100}+;(?P<address>[^\x00-\x1f\x7f-\x9f]{1,900}+)"
_CSI = "(?:\x1b\\[|\x9b)[0-?]{0,64}+[ -/]{0,8}+"
_SHORT = "\x1b[ -/]{0,4}+"

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Scripts in which joiners change letter shapes: Arabic, Syriac, and the Brahmic family.
_JOINED = (
    "\u0620-\u074f\u0750-\u077f\u08a0-\u08e1\u08e3-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff"
    "\ufb50-\ufdff\ufe70-\ufefc"
)


@cache
def _special() -> re.Pattern[str]:
    return re.compile(
        f"(?P<sequence>{_LINK}(?:\x07|\x1b\\\\|\x9c)|{_STRING_START}{_STRING}(?:\x07|\x1b\\\\|\x9c)"
        f"|{_CSI}[@-~]|{_SHORT}[0-~])"
        f"|(?P<kept>(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
        f"|(?<=[{_EMOJI}])\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)"
        f"|(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}]))"
        f"|\r\n|{HIDDEN_CHARACTERS}"
    )


@cache
def _unfinished() -> re.Pattern[str]:
    """Match a tail that the next chunk may complete."""
    return re.compile(f"(?:{_STRING_START}{_STRING}\x1b?|{_CSI}|{_SHORT}|[\r\ufe0f\u200c\u200d])\\Z")
