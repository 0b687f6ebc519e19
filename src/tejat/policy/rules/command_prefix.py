"""The first words of a command, as a rule names them."""

import re
import shlex

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy

_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_SHELL_SIGN = re.compile(r"[|&;<>()`*$\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class InvalidPrefix(TejatError):
    """A prefix can never match a command; the text says why."""


def parse_prefix(text: str) -> tuple[str, ...]:
    """Split the words as a shell does: quotes keep blanks and signs in a word. Raises InvalidPrefix."""
    sign = _SHELL_SIGN.search(_QUOTED.sub("x", text.strip()))
    if sign:
        raise InvalidPrefix(
            lazy(
                "{text!r} can never match because of {sign!r}: use the first words of one command, and quote special "
                "characters",
                text=text,
                sign=sign[0],
            )
        )
    if _ASSIGNMENT.match(text.strip()):
        raise InvalidPrefix(lazy("{text!r} can never match: a command starts with a program name", text=text))
    if not {"'", '"'} & set(text):
        return tuple(text.split())
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise InvalidPrefix(lazy("{text!r} can never match: a quote is not closed", text=text)) from None


def format_prefix(words: tuple[str, ...]) -> str | None:
    """Return the text of words that `parse_prefix` splits into the same ones, None if there is none."""
    joined = " ".join(words)
    try:
        return joined if parse_prefix(joined) == words else None
    except InvalidPrefix:
        return None
