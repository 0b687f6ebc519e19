"""Regular expressions for patterns with wild cards, made so that matching cannot blow up."""

from collections.abc import Sequence
from enum import Enum, auto


class Wildcard(Enum):
    """What matches a run of any length."""

    WITHIN_NAME = auto()
    """Any characters but slashes."""
    ANY = auto()
    """Any characters."""
    DIRECTORIES = auto()
    """Nothing, or any characters and a slash. Stands at the start, behind a slash, or behind nothing wild."""


WildcardToken = str | Wildcard
"""Something wild, or the regular expression of exactly one character."""

_PREFIXES = {Wildcard.ANY: ".*?", Wildcard.DIRECTORIES: "(?:|.*?/)"}


def wildcard_regex(tokens: Sequence[WildcardToken]) -> str:
    """A regular expression for the whole of a text, to be compiled with DOTALL.

    What stands between two wild cards is of fixed length, so the first place where it fits is always good enough: from
    there everything can be reached that can be reached from a later one. An atomic group therefore keeps it there, and
    the time to match grows with the length of the text, squared at worst. Only what follows the last wild card is tried
    at every place, because it has to end where the text ends; it alone may also be of variable length. A character that
    is not a plain one must not match a slash.
    """
    sections: list[list[WildcardToken]] = [[]]
    openings: list[str] = []
    for token in tokens:
        if token is Wildcard.ANY or token is Wildcard.DIRECTORIES:
            openings.append(_PREFIXES[token])
            sections.append([])
        else:
            sections[-1].append(token)
    if not openings:
        return _last_section(sections[0])
    parts = [_section(sections[0])]
    parts += [f"(?>{opening}{_section(tokens)})" for opening, tokens in zip(openings, sections[1:-1], strict=False)]
    return "".join(parts) + openings[-1] + _last_section(sections[-1])


def _section(tokens: Sequence[WildcardToken]) -> str:
    first, *others = _pieces(tokens)
    return first + "".join(f"(?>[^/]*?{piece})" for piece in others)


def _last_section(tokens: Sequence[WildcardToken]) -> str:
    *others, last = _pieces(tokens)
    if not others:
        return last + r"\Z"
    first, *middle = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + "[^/]*" + last + r"\Z"


def _pieces(tokens: Sequence[WildcardToken]) -> list[str]:
    pieces = [""]
    for token in tokens:
        if isinstance(token, str):
            pieces[-1] += token
        else:
            pieces.append("")
    return pieces
