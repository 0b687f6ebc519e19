"""Words that pass for Latin ones and are not."""

import re
from collections.abc import Iterable

from tejat.core.words import say, say_count

_MOST = 5

# Cyrillic, Armenian, Cherokee and the Greek letters that look like Latin ones.
_LOOKALIKE_LETTERS = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13f5"
)
_LOOKALIKE = re.compile(f"[{_LOOKALIKE_LETTERS}]")
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(f"[A-Za-z{_LOOKALIKE_LETTERS}]+")


def lookalikes_in(texts: Iterable[str]) -> list[str]:
    """What is to be said about the words that mix alphabets, one line each, and how many more there are."""
    words = (word for text in texts if not text.isascii() for word in _WORD.findall(text))
    found = list(dict.fromkeys(word for word in words if _LATIN.search(word) and _LOOKALIKE.search(word)))
    told = [
        say("Look closely, this word mixes alphabets: {word} = {spelled}", word=word, spelled=_spelled(word))
        for word in found[:_MOST]
    ]
    more = len(found) - _MOST
    return [*told, say_count("And {count} more such word.", "And {count} more such words.", more)] if more > 0 else told


def _spelled(word: str) -> str:
    return _LOOKALIKE.sub(lambda letter: f"<U+{ord(letter.group()):04X}>", word)
