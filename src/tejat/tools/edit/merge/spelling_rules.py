"""Spelling rules of the file, learned from matching lines."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

from tejat.tools.edit.match.line_comparer import is_similar

_Form = Literal["NFC", "NFD"]
_QUOTES = {**dict.fromkeys("“”„", '"'), **dict.fromkeys("‘’‚", "'")}
_NORMAL_FORMS: tuple[_Form, ...] = ("NFC", "NFD")


def learn_spelling(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Learn how the file writes look-alike characters, from lines as given and as found.

    Only consistent replacements are learned.
    """
    bare = [(given.strip(), found.strip()) for given, found in pairs]
    form = _normal_form([(given, found) for given, found in bare if given != found])
    if form is not None:
        return lambda line: unicodedata.normalize(form, line)
    signs = _character_mapping(bare)
    if any(chr(code) in _QUOTES and plain in _QUOTES.values() for code, plain in signs.items()):
        # Typographic quotes are used consistently.
        unused = (sign for sign in _QUOTES if all(sign not in found for _, found in bare))
        signs = {ord(sign): _QUOTES[sign] for sign in unused} | signs
    blanks = {sign for given, _ in bare for sign in given if sign.isspace() and not sign.isascii()}
    signs |= {ord(sign): " " for sign in blanks if not any(sign in found for _, found in bare)}
    dotted = [(given, found) for given, found in bare if "…" in given]
    if dotted and all("..." in found and "…" not in found for _, found in dotted):
        signs[ord("…")] = "..."
    return (lambda line: line.translate(signs)) if signs else str


def learn_typos(pairs: Sequence[tuple[str, str]], is_there: Callable[[str], bool]) -> Callable[[str], str]:
    """Learn corrections of misspelled words, from lines as given and as found.

    Only words that do not occur in the file are corrected.
    """
    slips: dict[str, str] = {}
    for given, found in pairs:
        left, right = _WORD.findall(given), _WORD.findall(found)
        if len(left) == len(right):
            pairs_of_words = zip(left, right, strict=True)
            slips |= {one: other for one, other in pairs_of_words if one != other and is_similar(one, other)}
    wrong = {word: right for word, right in slips.items() if not is_there(word)}
    return (lambda line: _WORD.sub(lambda word: wrong.get(word[0], word[0]), line)) if wrong else str


_WORD = re.compile(r"\w{4,}")
"""A word long enough to be recognized."""


def _normal_form(pairs: Sequence[tuple[str, str]]) -> _Form | None:
    for form in _NORMAL_FORMS:
        if pairs and all(unicodedata.normalize(form, given) == found for given, found in pairs):
            return form
    return None


def _character_mapping(pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Characters beyond ASCII that always stand for the same other character."""
    meanings: dict[str, set[str]] = {}
    for given, found in pairs:
        if len(given) != len(found):
            given, found = "".join(given.split()), "".join(found.split())  # noqa: PLW2901 -- the same but for white space
        if len(given) != len(found) or given.isascii():
            continue
        for left, right in zip(given, found, strict=True):
            if not left.isascii():
                meanings.setdefault(left, set()).add(right)
    return {ord(sign): next(iter(meant)) for sign, meant in meanings.items() if len(meant) == 1 and meant != {sign}}
