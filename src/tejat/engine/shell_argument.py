"""Puts a text into a shell command so that it stays a part of one word, whatever it says and wherever it stands."""

import re
from collections.abc import Iterator
from shlex import quote

from tejat.core.errors import TejatError
from tejat.core.words import phrase

LONGEST_COMMAND = 16 * 1024
"""Characters that are read to find out where the argument stands."""


class NoPlaceForArgument(TejatError):
    """The text stands where no quotes would keep it from being read as code. The message says where."""


def with_argument(command: str, placeholder: str, argument: str) -> str:
    """The command with the quoted argument in every place of the placeholder; an empty one leaves nothing there.

    Within quotes these are closed before it and opened again behind it. Raises NoPlaceForArgument. What a program makes
    of the word that it is given is not known here, only what bash and the common ways to another shell make of it.
    """
    if placeholder not in command:
        return command
    if len(command) > LONGEST_COMMAND:
        raise NoPlaceForArgument(
            phrase(
                "{placeholder} stands in a command of more than {most} characters",
                placeholder=placeholder,
                most=LONGEST_COMMAND,
            )
        )
    marks = list(_Reader(command, placeholder).marks())
    word = quote(argument) if argument else ""
    pieces = command.split(placeholder)
    filled = (f"{mark}{word}{mark}{piece}" if word else piece for mark, piece in zip(marks, pieces[1:], strict=True))
    return pieces[0] + "".join(filled)


_PLAIN_EXPANSION = re.compile(r"\$\{#?[A-Za-z_][A-Za-z0-9_]*\}|\$\{[0-9@*#?$!-]\}")
_ESCAPED_QUOTES = re.compile(r"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_COMMENT = re.compile(r"(?<![^\s;&|()])#[^\n]*")
_READS_CODE = re.compile(
    r"(?<![\w.$-])(?:case|coproc|eval|let|select|ssh|trap|watch"
    # These take names of variables, and the index in such a name is read as code.
    r"|declare|export|getopts|local|mapfile|read|readarray|readonly|typeset|unset|wait)(?![\w.-])"
)
_TAKES_NAMES = re.compile(r"(?<![\w.$-])(?:printf|test|\[)(?=\s)")
_NAME_FOLLOWS = re.compile(r"(?<=\s)-[vR](?=\s)")
_SHELL = re.compile(r"(?<![\w.$-])(?:ba|da|fi|k|z)?sh(?![\w.-])")
_BEYOND = (
    (re.compile(r"\$?\(\(|\$\["), phrase("behind arithmetic")),
    (re.compile(r"(?<=[A-Za-z0-9_])\["), phrase("behind an index")),
    # After a mistake in one of these bash goes on reading with the next line, even if that is part of the argument.
    (re.compile(r"=\("), phrase("behind an array")),
    (re.compile(r"<<(?!<)"), phrase("behind a here-document")),
    (re.compile("`"), phrase("behind a backtick")),
    (re.compile(r"\$'"), phrase("in quotes with escapes")),
    (re.compile(r"\$\{"), phrase("behind an expansion with conditions")),
)
"""What is not read any further, and how to call what follows."""
_NOT_IN_QUOTES = (
    phrase("behind an index"),
    phrase("behind an array"),
    phrase("behind a here-document"),
    phrase("in quotes with escapes"),
)
_BEYOND_IN_QUOTES = tuple(entry for entry in _BEYOND if entry[1] not in _NOT_IN_QUOTES)


class _Reader:
    """Reads a command as bash would, as far as it takes to know what the placeholders stand in.

    What is beyond that is not guessed at: behind it no placeholder is accepted.
    """

    def __init__(self, command: str, placeholder: str) -> None:
        self._command = command
        self._placeholder = placeholder
        self._at = 0
        # What is open, the innermost last: a quotation mark, "[[", or "(" for whatever ends with ")".
        self._open = [""]
        self._doubt = ""
        self._calls_shell = False
        self._takes_names = False

    def marks(self) -> Iterator[str]:
        """The quotation mark around each placeholder, "" where there is none. Raises NoPlaceForArgument."""
        while self._at < len(self._command):
            if self._command.startswith(self._placeholder, self._at):
                yield self._mark()
                self._at += len(self._placeholder)
            elif self._open[-1] == "'":
                self._in_single_quotes()
            elif self._open[-1] == '"':
                self._in_double_quotes()
            else:
                self._in_the_open()
        if len(self._open) > 1:
            raise NoPlaceForArgument(
                phrase(
                    "{placeholder} stands in a command where {open} is never closed",
                    placeholder=self._placeholder,
                    open=self._open[-1],
                )
            )

    def _mark(self) -> str:
        mark = self._open[-1] if self._open[-1] in ("'", '"') else ""
        if self._doubt:
            raise self._no_place(self._doubt)
        if self._calls_shell and mark:
            raise self._no_place(phrase("in the text of another command"))
        if "[[" in self._open:
            raise self._no_place("between [[ and ]]")
        return mark

    def _no_place(self, where: str) -> NoPlaceForArgument:
        return NoPlaceForArgument(
            phrase(
                "{placeholder} stands {where}, where quotes do not protect it",
                placeholder=self._placeholder,
                where=where,
            )
        )

    def _in_single_quotes(self) -> None:
        if self._take("'"):
            self._open.pop()
        else:
            self._at += 1

    def _in_double_quotes(self) -> None:
        if self._take('"'):
            self._open.pop()
        elif self._escaped() or self._expansion() or self._beyond(_BEYOND_IN_QUOTES):
            return
        elif self._take("$("):
            self._open.append("(")
        else:
            self._at += 1

    def _in_the_open(self) -> None:
        if self._escaped() or self._comment() or self._expansion() or self._word():
            return
        if self._beyond(_BEYOND):
            return
        for opening, inner in (("'", "'"), ('"', '"'), ("[[", "[["), ("$(", "("), ("(", "(")):
            if self._take(opening):
                self._open.append(inner)
                return
        for closing, inner in ((")", "("), ("]]", "[[")):
            if self._open[-1] == inner and self._take(closing):
                self._open.pop()
                return
        if self._command[self._at] in ";&|\n":
            self._takes_names = False
        # A here-string is a word like others; one sign of it alone would pass for the beginning of a here-document.
        self._at += 3 if self._command.startswith("<<<", self._at) else 1

    def _take(self, text: str) -> bool:
        if not self._command.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _escaped(self) -> bool:
        if not self._command.startswith("\\", self._at):
            return False
        self._pass_to(self._at + 2, phrase("behind a backslash"))
        return True

    def _comment(self) -> bool:
        found = _COMMENT.match(self._command, self._at)
        if found is not None:
            self._pass_to(found.end(), "in a comment")
        return found is not None

    def _expansion(self) -> bool:
        found = _PLAIN_EXPANSION.match(self._command, self._at)
        if found is None and self._open[-1] != '"':
            found = _ESCAPED_QUOTES.match(self._command, self._at)
        if found is not None:
            self._pass_to(found.end(), phrase("in quotes with escapes"))
        return found is not None

    def _pass_to(self, end: int, where: str) -> None:
        """Nothing up to there matters. Raises NoPlaceForArgument if a placeholder begins before."""
        if self._command.find(self._placeholder, self._at, end + len(self._placeholder) - 1) >= 0:
            raise self._no_place(where)
        self._at = end

    def _word(self) -> bool:
        """Words that lead to code which is read in another way."""
        if found := _READS_CODE.match(self._command, self._at):
            self._doubt = self._doubt or phrase("behind {found}", found=found[0])
        elif found := _SHELL.match(self._command, self._at):
            self._calls_shell = True
        elif found := _TAKES_NAMES.match(self._command, self._at):
            self._takes_names = True
        elif self._takes_names and (found := _NAME_FOLLOWS.match(self._command, self._at)):
            self._doubt = self._doubt or phrase("behind {found}", found=found[0])
        if found is None:
            return False
        self._at = found.end()
        return True

    def _beyond(self, signs: "tuple[tuple[re.Pattern[str], str], ...]") -> bool:
        for sign, where in signs:
            found = sign.match(self._command, self._at)
            if found is not None:
                self._pass_to(found.end(), where)
                self._doubt = self._doubt or where
                return True
        return False
