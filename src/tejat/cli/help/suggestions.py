"""Suggestions for misspelled flags and commands."""

from collections.abc import Iterable

from tejat.core.i18n import _
from tejat.core.text.edit_distance import edit_distance

_MAX_LENGTH = 64


def closest(word: str, known: Iterable[str]) -> str:
    """The known word at the smallest distance, empty if none is close for its length.

    A word that begins with the given one is close too: `--verb` for `--verbose`.
    """
    if not word.strip("-") or len(word) > _MAX_LENGTH:
        return ""
    ranked = [(edit_distance(word, candidate), candidate) for candidate in known if len(candidate) <= 2 * _MAX_LENGTH]
    near = sorted((distance, found) for distance, found in ranked if distance <= _allowed_distance(found))
    if near:
        return near[0][1]
    longer = [found for _distance, found in ranked if len(word.strip("-")) > 1 and found.startswith(word)]
    return longer[0] if len(longer) == 1 else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The question to add to an error about an unknown word, empty if nothing is close."""
    found = closest(word, known)
    return " " + _("Did you mean {word}?", word=found) if found else ""


def _allowed_distance(word: str) -> int:
    return max(1, len(word.lstrip("-")) // 3)
