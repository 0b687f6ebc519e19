"""The words of a search: how they are written, compared and looked for in the bytes of a journal."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import cast
from unicodedata import normalize

import stringzilla

from tejat.core.errors import UsageError
from tejat.core.i18n import _

_find = cast("Callable[[bytes, bytes], int]", stringzilla.find)
_WORD = re.compile(r'"([^"]*)"?|(\S+)')
_PLAIN_RUN = re.compile(r"[ !#-\[\]-~]+|[\u4e00-\u9fff]+")
"""Characters that are the same in the bytes of a journal, but for case and `SPELLINGS`.

They are those of ASCII without quotation marks and backslashes, and common Chinese characters.
"""
SPELLINGS = "ﬀﬁﬂﬃﬄﬅﬆßẞſ\u212aİŉẚ\u037e\u1fef"
"""All characters beyond ASCII that become one of ASCII, alone or with others, when they are compared."""
_COMPATIBLE = (*(bytes((0xEF, second)) for second in range(0xA4, 0xAC)), b"\xf0\xaf")
"""The beginnings of characters that are compared as Chinese characters."""
_ESCAPED_LINE = b"\\ud"
"""In a line with such an escape, everything beyond ASCII is escaped."""


def fold(text: str) -> str:
    """The text as it is compared: composed, and without case."""
    return text.casefold() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


class SearchWord:
    """A word or phrase."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)

    @cached_property
    def plain(self) -> bytes:
        """The longest part that can be looked for in bytes; empty if there is none."""
        return max(_PLAIN_RUN.findall(self.folded), key=len, default="").encode()

    @cached_property
    def _spellings(self) -> tuple[tuple[bytes, bytes], ...]:
        """What can stand in a journal for characters of that part, and what it is compared as."""
        found = ((character, fold(character)) for character in SPELLINGS)
        plain = set(self.plain.decode())
        return tuple((character.encode(), folded.encode()) for character, folded in found if plain & {*folded})

    def may_occur(self, block: bytes, lowered: bytes) -> bool:
        """Whether the word may occur in a part of a journal, `lowered` with its ASCII letters in lower case.

        False is certain.
        """
        if self.plain and _find(lowered, self.plain) >= 0:
            return True
        if not (self.plain and self.plain.isascii() and not self._spellings) and _find(lowered, _ESCAPED_LINE) >= 0:
            return True
        if block.isascii():
            return not self.plain and self.folded.isascii()
        if not self.plain or not self.plain.isascii():
            return self._may_occur_folded(block)
        expanded = lowered
        for character, folded in self._spellings:
            if _find(expanded, character) >= 0:
                expanded = expanded.replace(character, folded)
        return expanded is not lowered and _find(expanded, self.plain) >= 0

    def _may_occur_folded(self, block: bytes) -> bool:
        """Whether the word may occur, for one with no part in ASCII."""
        if self.plain and not any(_find(block, start) >= 0 for start in _COMPATIBLE):
            return False
        wanted = self.plain.decode() or "".join(re.split(r'["\\\x00-\x1f]+', self.folded)[:1])
        return wanted in fold(block.decode("utf-8", "replace"))


def parse_words(text: str) -> tuple[SearchWord, ...]:
    """The words of a search, each once; a part in quotation marks is a phrase. Raises UsageError if there are none."""
    found: dict[str, SearchWord] = {}
    for phrase, word in _WORD.findall(text):
        wanted = " ".join((phrase or word).split())
        if wanted:
            found.setdefault(fold(wanted), SearchWord(wanted))
    if not found:
        raise UsageError(_("Nothing to search for. Give one or more words."))
    return tuple(found.values())
