"""`tejat __complete KIND [WORD]`: values for completion scripts. It reads files, and changes and starts nothing."""

from contextlib import suppress

from tejat.app.inspection.completion_values import completion_values
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK, EXIT_USAGE
from tejat.core.sanitize import sanitize_line

_LISTS = ("tools", "servers")
"""Kinds of which several may be given, separated by commas."""


def run(words: list[str]) -> int:
    """Print the values of a kind, one a line with a tab and its meaning, and return the exit code."""
    kind, word = (*words, "", "")[:2]
    try:
        values = completion_values(kind)
    except KeyError:
        return EXIT_USAGE
    given = word[: word.rfind(",") + 1] if kind in _LISTS else ""
    with suppress(TejatError, OSError):
        for value, text in values:
            if not any(character.isspace() for character in value):
                print(f"{given}{sanitize_line(value)}\t{sanitize_line(text)}")
    return EXIT_OK
