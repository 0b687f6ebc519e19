"""The words of a command that somebody set: a line split as a shell would split it, or a list taken as it is."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.errors import UsageError


def command_words(given: str | Sequence[str], *, called: str = "The command") -> tuple[str, ...]:
    """The program and its arguments. No shell is involved, and none is needed to run them.

    Quotes and backslashes in a line mean what they mean to a POSIX shell, everything else stands for itself. `called`
    is what the messages begin with. Raises UsageError for what is empty, for quotes that are not closed, and for what
    only a shell could do.
    """
    try:
        words = tuple(_split(given) if isinstance(given, str) else given)
    except _Unfit as unfit:
        raise UsageError(f"{called} {unfit}") from None
    if not words:
        raise UsageError(f"{called} is empty or contains only whitespace.")
    if not words[0].strip():
        raise UsageError(f"{called} must start with a program name.")
    if any("\0" in word for word in words):
        raise UsageError(f"{called} holds a NUL character, which no program can be given.")
    return words


class _Unfit(Exception):
    """The line is no plain command. The message goes after its name."""


def _split(line: str) -> Iterator[str]:
    word: str | None = None
    place = 0
    line = line.lstrip().rstrip("\n")  # a blank at the end may be a word's
    while place < len(line):
        token = re.compile(_TOKEN, re.DOTALL).match(line, place)
        if token is None:
            raise _Unfit(
                "ends with a backslash that nothing follows."
                if line[place] == "\\"
                else f"has a quote that is not closed: {line[place]}"
            )
        place = token.end()
        match token.lastgroup:
            case "blank":
                if word is not None:
                    yield word
                word = None
            case "operator":
                raise _only_for_a_shell(token["operator"], is_first=token.start() == 0)
            case "double":
                word = (word or "") + _unescaped(token["double"])
            case "single" | "escaped" | "plain" as kind:
                word = (word or "") + token[kind]
            case _:  # lines that are joined
                continue
    if word is not None:
        yield word


def _unescaped(text: str) -> str:
    """What stands between double quotes."""
    active = re.sub(r"\\.", "", text, flags=re.DOTALL)
    for operator in ("`", "$("):
        if operator in active:
            raise _only_for_a_shell(operator)
    return re.sub(r'\\([$`"\\])|\\\n', r"\1", text)


def _only_for_a_shell(operator: str, *, is_first: bool = False) -> _Unfit:
    if is_first:
        return _Unfit("must start with a program name.")
    shown = "a line break" if operator == "\n" else operator
    return _Unfit(
        f"holds {shown}, which only a shell understands, and it is run without one. "
        "Quote it if it is meant as it stands; else put the line into a script, and name that."
    )


# Compiled when first needed: few settings hold a command.
_TOKEN = (
    r"(?P<blank>[ \t]+)"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|(?P<joint>\\\n)"
    r"|\\(?P<escaped>.)"
    r"|(?P<operator>\|\||&&|<<|>>|\$\(|[|&;<>()`\n])"
    r"|(?P<plain>(?:[^ \t\n'\"\\|&;<>()`$]|\$(?!\())+)"
)
