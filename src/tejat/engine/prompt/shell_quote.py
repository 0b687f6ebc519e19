"""Safe insertion of an argument into a shell command, as part of one word."""

import re
from collections.abc import Iterator, Mapping
from shlex import quote

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy

MAX_COMMAND_LENGTH = 16 * 1024
"""The longest command in which a placeholder is accepted."""


class UnsafePlaceholder(TejatError):
    """A placeholder stands where quotes would not keep its text from being run. The message says where."""


def substitute_argument(command: str, placeholder: str, argument: str) -> str:
    """Replace every placeholder by the quoted argument, or by nothing if the argument is empty.

    Quotes around a placeholder are closed before and reopened after it. Raises UnsafePlaceholder. Only bash and the
    common ways to call another shell are understood; what programs do with their arguments is unknown.
    """
    if placeholder not in command:
        return command
    if len(command) > MAX_COMMAND_LENGTH:
        raise UnsafePlaceholder(
            lazy(
                "{placeholder} is in a command of more than {most} characters",
                placeholder=placeholder,
                most=MAX_COMMAND_LENGTH,
            )
        )
    marks = list(_ShellScanner(command, placeholder).quote_marks())
    word = quote(argument) if argument else ""
    pieces = command.split(placeholder)
    filled = (f"{mark}{word}{mark}{piece}" if word else piece for mark, piece in zip(marks, pieces[1:], strict=True))
    return pieces[0] + "".join(filled)


def substitute_places(command: str, places: Mapping[str, str]) -> str:
    """Replace the variables of an extension by their values, each as part of one word. Raises UnsafePlaceholder."""
    separators = [placeholder for placeholder, value in places.items() if value == "/"]
    for placeholder in separators:
        command = command.replace(placeholder, "/")
    for placeholder, value in places.items():
        if placeholder in separators or placeholder not in command:
            continue
        if any(each in value for each in places):
            raise UnsafePlaceholder(lazy("{placeholder} has another variable in it", placeholder=placeholder))
        is_plain = _PLAIN_WORD.fullmatch(value) is not None
        command = command.replace(placeholder, value) if is_plain else substitute_argument(command, placeholder, value)
    return command


# Such a word is the same with and without quotes, in every context.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_/.,:@%+-]+")
_PLAIN_EXPANSION = re.compile(r"\$\{#?[A-Za-z_][A-Za-z0-9_]*\}|\$\{[0-9@*#?$!-]\}")
_ESCAPED_QUOTES = re.compile(r"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_COMMENT = re.compile(r"(?<![^\s;&|()])#[^\n]*")
_READS_CODE = re.compile(
    r"(?<![\w.$-])(?:case|coproc|eval|let|select|ssh|trap|watch"
    # These take variable names, in which an index is evaluated.
    r"|declare|export|getopts|local|mapfile|read|readarray|readonly|typeset|unset|wait)(?![\w.-])"
)
_TAKES_NAMES = re.compile(r"(?<![\w.$-])(?:printf|test|\[)(?=\s)")
_NAME_FOLLOWS = re.compile(r"(?<=\s)-[vR](?=\s)")
_SHELL = re.compile(r"(?<![\w.$-])(?:ba|da|fi|k|z)?sh(?![\w.-])")
_UNSUPPORTED = (
    (re.compile(r"\$?\(\(|\$\["), lazy("inside arithmetic")),
    (re.compile(r"(?<=[A-Za-z0-9_])\["), lazy("inside an index")),
    # After an error in one of these, bash continues with the next line, even if that is part of the argument.
    (re.compile(r"=\("), lazy("inside an array")),
    (re.compile(r"<<(?!<)"), lazy("inside a here-document")),
    (re.compile("`"), lazy("after a backtick")),
    (re.compile(r"\$'"), lazy("inside $'...' quotes")),
    (re.compile(r"\$\{"), lazy("inside a conditional expansion")),
)
"""Syntax that is not parsed any further, and the description of what follows it."""
_NOT_IN_QUOTES = (
    lazy("inside an index"),
    lazy("inside an array"),
    lazy("inside a here-document"),
    lazy("inside $'...' quotes"),
)
_UNSUPPORTED_IN_QUOTES = tuple(entry for entry in _UNSUPPORTED if entry[1] not in _NOT_IN_QUOTES)


class _ShellScanner:
    """Scans a command like bash, as far as needed to know the context of the placeholders.

    After unsupported syntax no placeholder is accepted.
    """

    def __init__(self, command: str, placeholder: str) -> None:
        self._command = command
        self._placeholder = placeholder
        self._position = 0
        # Open constructs, innermost last: a quotation mark, "[[", or "(" for anything that ends with ")".
        self._open = [""]
        self._unsafe_context = ""
        self._calls_shell = False
        self._takes_names = False

    def quote_marks(self) -> Iterator[str]:
        """Yield the quotation mark around each placeholder, "" if there is none. Raises UnsafePlaceholder."""
        while self._position < len(self._command):
            if self._command.startswith(self._placeholder, self._position):
                yield self._quote_mark()
                self._position += len(self._placeholder)
            elif self._open[-1] == "'":
                self._scan_single_quoted()
            elif self._open[-1] == '"':
                self._scan_double_quoted()
            else:
                self._scan_unquoted()
        if len(self._open) > 1:
            name, mark = self._placeholder, self._open[-1]
            raise UnsafePlaceholder(
                lazy("{placeholder} is in a command with an unclosed {open}", placeholder=name, open=mark)
            )

    def _quote_mark(self) -> str:
        mark = self._open[-1] if self._open[-1] in ("'", '"') else ""
        if self._unsafe_context:
            raise self._unsafe_error(self._unsafe_context)
        if self._calls_shell and mark:
            raise self._unsafe_error(lazy("inside the text of another command"))
        if "[[" in self._open:
            raise self._unsafe_error("between [[ and ]]")
        return mark

    def _unsafe_error(self, where: str) -> UnsafePlaceholder:
        name = self._placeholder
        return UnsafePlaceholder(
            lazy("{placeholder} is {where}, where quoting cannot protect it", placeholder=name, where=where)
        )

    def _scan_single_quoted(self) -> None:
        if self._accept("'"):
            self._open.pop()
        else:
            self._position += 1

    def _scan_double_quoted(self) -> None:
        if self._accept('"'):
            self._open.pop()
        elif self._skip_escape() or self._skip_expansion() or self._scan_unsupported(_UNSUPPORTED_IN_QUOTES):
            return
        elif self._accept("$("):
            self._open.append("(")
        else:
            self._position += 1

    def _scan_unquoted(self) -> None:
        if self._skip_escape() or self._skip_comment() or self._skip_expansion() or self._scan_word():
            return
        if self._scan_unsupported(_UNSUPPORTED):
            return
        for opening, inner in (("'", "'"), ('"', '"'), ("[[", "[["), ("$(", "("), ("(", "(")):
            if self._accept(opening):
                self._open.append(inner)
                return
        for closing, inner in ((")", "("), ("]]", "[[")):
            if self._open[-1] == inner and self._accept(closing):
                self._open.pop()
                return
        if self._command[self._position] in ";&|\n":
            self._takes_names = False
        # A here-string takes a plain word; without this its first two characters would look like a here-document.
        self._position += 3 if self._command.startswith("<<<", self._position) else 1

    def _accept(self, text: str) -> bool:
        if not self._command.startswith(text, self._position):
            return False
        self._position += len(text)
        return True

    def _skip_escape(self) -> bool:
        if not self._command.startswith("\\", self._position):
            return False
        self._skip_to(self._position + 2, lazy("after a backslash"))
        return True

    def _skip_comment(self) -> bool:
        found = _COMMENT.match(self._command, self._position)
        if found is not None:
            self._skip_to(found.end(), "in a comment")
        return found is not None

    def _skip_expansion(self) -> bool:
        found = _PLAIN_EXPANSION.match(self._command, self._position)
        if found is None and self._open[-1] != '"':
            found = _ESCAPED_QUOTES.match(self._command, self._position)
        if found is not None:
            self._skip_to(found.end(), lazy("inside $'...' quotes"))
        return found is not None

    def _skip_to(self, end: int, where: str) -> None:
        """Skip to this position. Raises UnsafePlaceholder if a placeholder begins before it."""
        if self._command.find(self._placeholder, self._position, end + len(self._placeholder) - 1) >= 0:
            raise self._unsafe_error(where)
        self._position = end

    def _scan_word(self) -> bool:
        """Scan words after which text is run or parsed differently."""
        if found := _READS_CODE.match(self._command, self._position):
            self._unsafe_context = self._unsafe_context or lazy("after {found}", found=found[0])
        elif found := _SHELL.match(self._command, self._position):
            self._calls_shell = True
        elif found := _TAKES_NAMES.match(self._command, self._position):
            self._takes_names = True
        elif self._takes_names and (found := _NAME_FOLLOWS.match(self._command, self._position)):
            self._unsafe_context = self._unsafe_context or lazy("after {found}", found=found[0])
        if found is None:
            return False
        self._position = found.end()
        return True

    def _scan_unsupported(self, signs: "tuple[tuple[re.Pattern[str], str], ...]") -> bool:
        for sign, where in signs:
            found = sign.match(self._command, self._position)
            if found is not None:
                self._skip_to(found.end(), where)
                self._unsafe_context = self._unsafe_context or where
                return True
        return False
