"""Regular expressions for wildcard patterns, built so that matching cannot blow up."""

from collections.abc import Sequence
from enum import Enum, auto


class Wildcard(Enum):
    """A wildcard for a run of any length."""

    WITHIN_NAME = auto()
    """Any characters but slashes."""
    ANY = auto()
    """Any characters."""
    DIRECTORIES = auto()
    """Nothing, or any characters and a slash. At the start, after a slash, or after a non-wildcard."""


WildcardToken = str | Wildcard
"""A wildcard, or the regular expression of exactly one character."""

_PREFIXES = {Wildcard.ANY: ".*?", Wildcard.DIRECTORIES: "(?:|.*?/)"}


def wildcard_regex(tokens: Sequence[WildcardToken]) -> str:
    """Return a regular expression for a whole text, to be compiled with DOTALL.

    The part between two wildcards has a fixed length, so its first match is always good enough: everything reachable
    from a later one is reachable from there. An atomic group therefore keeps it there, and matching takes at most
    quadratic time. Only the part after the last wildcard is tried at every position, because it has to end with the
    text; it alone may have a variable length. An expression that is not a plain character must not match a slash.
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
