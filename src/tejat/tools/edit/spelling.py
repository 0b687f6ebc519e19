"""Learns how characters that look alike are written in the file, from lines that are known on both sides."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

_Form = Literal["NFC", "NFD"]
_FORMS: tuple[_Form, ...] = ("NFC", "NFD")


def learned_spelling(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """How to write what was given as the file would have it; `pairs` are lines as given and as found.

    Only what is consistent is learned: a character that stands for another one everywhere.
    """
    bare = [(given.strip(), found.strip()) for given, found in pairs]
    form = _form([(given, found) for given, found in bare if given != found])
    if form is not None:
        return lambda line: unicodedata.normalize(form, line)
    signs = _signs(bare)
    blanks = {sign for given, _ in bare for sign in given if sign.isspace() and not sign.isascii()}
    signs |= {ord(sign): " " for sign in blanks if not any(sign in found for _, found in bare)}
    dotted = [(given, found) for given, found in bare if "…" in given]
    if dotted and all("..." in found and "…" not in found for _, found in dotted):
        signs[ord("…")] = "..."
    return (lambda line: line.translate(signs)) if signs else str


def _form(pairs: Sequence[tuple[str, str]]) -> _Form | None:
    for form in _FORMS:
        if pairs and all(unicodedata.normalize(form, given) == found for given, found in pairs):
            return form
    return None


def _signs(pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Characters beyond ASCII that stand for one and the same other character wherever they were given."""
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
