"""Warnings about confusable letters (Unicode TR39) and right-to-left text."""

import re
from collections.abc import Iterable

from tejat.core.i18n import _, ngettext

_MAX_WARNINGS = 5

# Cyrillic, Armenian, Cherokee and the Greek letters that look like Latin ones.
_CONFUSABLE_LETTERS = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13f5"
)
_CONFUSABLE = re.compile(f"[{_CONFUSABLE_LETTERS}]")
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(f"[A-Za-z{_CONFUSABLE_LETTERS}]+")
# Letters that look the same as Latin ones: a word of only these reads as another word.
_INDISTINGUISHABLE = re.compile(
    "[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf"
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d]{2,}"
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


def confusable_warnings(texts: Iterable[str]) -> list[str]:
    """Return one warning per word with confusable letters, and the number of further words."""
    words = (word for text in texts if not text.isascii() for word in _WORD.findall(text))
    found = list(dict.fromkeys(word for word in words if _is_mixed(word) or _INDISTINGUISHABLE.fullmatch(word)))
    warnings = [_warning(word) for word in found[:_MAX_WARNINGS]]
    more = len(found) - _MAX_WARNINGS
    if more > 0:
        warnings.append(ngettext("{count} more word like this", "{count} more words like this", more))
    return warnings


def bidi_warning(text: str) -> str | None:
    """Return a warning for text that a terminal may reorder."""
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return None
    return _("Contains right-to-left text: the words around it may appear swapped.")


def _is_mixed(word: str) -> bool:
    return bool(_LATIN.search(word) and _CONFUSABLE.search(word))


def _warning(word: str) -> str:
    spelled = _CONFUSABLE.sub(lambda letter: f"<U+{ord(letter.group()):04X}>", word)
    if _is_mixed(word):
        return _("Mixed alphabets: {word} = {spelled}", word=word, spelled=spelled)
    return _("Lookalike letters: {word} = {spelled}", word=word, spelled=spelled)
