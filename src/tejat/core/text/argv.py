"""Parsing of configured commands into argument vectors."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy

_DEFAULT_LABEL = lazy("The command")


def parse_argv(command: str | Sequence[str], *, label: str = _DEFAULT_LABEL) -> tuple[str, ...]:
    """Split a command line as a POSIX shell would, or check a list of arguments. No shell runs them.

    `label` begins the error messages. Raises UsageError for an empty command, unclosed quotes, and syntax that only a
    shell understands.
    """
    words = tuple(_split(command, label) if isinstance(command, str) else command)
    if not words:
        raise UsageError(lazy("{command} is empty or contains only whitespace.", command=label))
    if not words[0].strip():
        raise UsageError(lazy("{command} must start with a program name.", command=label))
    if any("\0" in word for word in words):
        raise UsageError(lazy("{command} contains a NUL character.", command=label))
    return words


def _split(line: str, label: str) -> Iterator[str]:
    word: str | None = None
    place = 0
    line = line.lstrip().rstrip("\n")  # a space at the end may be escaped
    while place < len(line):
        token = re.compile(_TOKEN, re.DOTALL).match(line, place)
        if token is None:
            raise UsageError(
                lazy("{command} ends with a lone backslash.", command=label)
                if line[place] == "\\"
                else lazy("{command} has an unclosed quote: {quote}", command=label, quote=line[place])
            )
        place = token.end()
        match token.lastgroup:
            case "blank":
                if word is not None:
                    yield word
                word = None
            case "operator":
                raise _shell_syntax_error(token["operator"], label, is_first=token.start() == 0)
            case "double":
                word = (word or "") + _unquote(token["double"], label)
            case "single" | "escaped" | "plain" as kind:
                word = (word or "") + token[kind]
            case _:  # a line continuation
                continue
    if word is not None:
        yield word


def _unquote(text: str, label: str) -> str:
    """The content of double quotes."""
    active = re.sub(r"\\.", "", text, flags=re.DOTALL)
    for operator in ("`", "$("):
        if operator in active:
            raise _shell_syntax_error(operator, label)
    return re.sub(r'\\([$`"\\])|\\\n', r"\1", text)


def _shell_syntax_error(operator: str, label: str, *, is_first: bool = False) -> UsageError:
    if is_first:
        return UsageError(lazy("{command} must start with a program name.", command=label))
    return UsageError(
        lazy(
            "{command} contains {operator}, which needs a shell, but it runs without one. Quote it "
            "to use it literally, or put the line in a script and run that.",
            command=label,
            operator=lazy("a line break") if operator == "\n" else operator,
        )
    )


# Compiled on first use: few settings hold a command.
_TOKEN = (
    r"(?P<blank>[ \t]+)"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|(?P<joint>\\\n)"
    r"|\\(?P<escaped>.)"
    r"|(?P<operator>\|\||&&|<<|>>|\$\(|[|&;<>()`\n])"
    r"|(?P<plain>(?:[^ \t\n'\"\\|&;<>()`$]|\$(?!\())+)"
)
