"""Parser for plain lines: lists and pipelines of commands with literal words.

It does not use the syntax tree, so that a line counts as plain only if two parsers agree.
"""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.shell.words import word_set

# In a bare word `~` is literal after a letter, a digit or `^` (HEAD~1); `=` and `:` are literal except in a name.
_WORD = re.compile(
    r"""(?: [A-Za-z0-9_./,:@%+=^-] | (?<=[A-Za-z0-9_^])~ | '[^']*' | "[^"$`\\]*" )+ (?P<end>(?=[ \t\n;|&]|\Z))?""",
    re.VERBOSE,
)
# Bare words, each with what separates it from the next one or ends the command.
_BARE_WORDS = re.compile(r"(?:[A-Za-z0-9_./,:@%+=^-]++(?=[ \t\n;|&]|\Z)[ \t]*+)++")
_NAME = re.compile(r"[A-Za-z0-9_./+:@,-]+\Z")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_BLANK = re.compile(r"[ \t]+")
_DUPLICATION = re.compile(r"(?:2>&1|1>&2|>&2)(?=[ \t\n;|&]|\Z)")
_REDIRECTION = re.compile(r"(?:[0-2]?>[>|]?|&>>?|0?<)[ \t]*(?=[^<>&|(])|>&[ \t]*(?=/dev/null)")
_AND_OR_PIPE = re.compile(r"(?:&&|\|\||\|)(?![&|])")
# What begins with none of these is no blank, no operator and no redirection.
_BEFORE_WORD = frozenset(" \t\n;&|<>012")
_END = re.compile(r";(?![;&])|&(?![&>])|\n")

REDIRECTS = lazy("it redirects to or from a file")
REDIRECTS_UNUSUALLY = lazy("it uses an unusual redirection")
RESERVED = word_set("if then else elif fi do done case esac while until for in function time coproc select { } ! [[ ]]")
# Builtins that change the meaning of the rest of the line, or evaluate their arguments.
STATE_BUILTINS = word_set(
    """
    . source eval exec builtin command alias unalias export declare typeset local readonly unset set shopt trap enable
    hash read mapfile readarray let getopts wait pushd popd dirs bind complete compgen compopt fc history umask ulimit
    shift return break continue exit logout suspend times caller bg fg jobs disown
    """
)
# `-v` takes a variable name, whose subscript is evaluated.
_VARIABLE_OPTION = frozenset(("printf", "test", "["))


class PlainLine(Frozen):
    """A line that is plain if it has no `targets`: files of redirections other than /dev/null."""

    commands: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]


def parse_plain_line(text: str) -> PlainLine | str:
    """Return the commands of a line that is plain apart from redirections, or the first reason why it is not."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        unusual = next(each for each in text if not each.isprintable() and each not in "\n\t")
        return lazy("it contains an unusual character (U+{code:04X})", code=ord(unusual))
    return _PlainLineParser(text).parse()


class _PlainLineParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._words: list[str] = []
        self._commands: list[tuple[str, ...]] = []
        self._targets: list[str] = []
        self._expects_command = False

    def parse(self) -> PlainLine | str:
        while self._at < len(self._text):
            doubt = self._step()
            if doubt is not None:
                return doubt
        doubt = self._end_command(is_needed=self._expects_command)
        if doubt is not None:
            return doubt
        if not self._commands:
            return lazy("it contains no command")
        return _find_doubt(self._commands) or PlainLine(tuple(self._commands), tuple(self._targets))

    def _step(self) -> str | None:
        if self._text[self._at] not in _BEFORE_WORD:
            bare = self._accept(_BARE_WORDS)
            return self._accept_word() if bare is None else self._add_bare(bare[0].split())
        if self._accept(_BLANK):
            return None
        if self._accept(_DUPLICATION):
            return self._end_redirection(None)
        if self._accept(_REDIRECTION):
            target = self._accept(_WORD)
            if not target or target["end"] is None:
                return REDIRECTS_UNUSUALLY
            return self._end_redirection(target[0])
        if self._accept(_AND_OR_PIPE):
            doubt = self._end_command(is_needed=True)
            self._expects_command = True
            return doubt
        end = self._accept(_END)
        if end:
            is_blank_line = end[0] == "\n" and not self._words
            return None if is_blank_line else self._end_command(is_needed=True)
        return self._accept_word()

    def _accept_word(self) -> str | None:
        word = self._accept(_WORD)
        if not word or word["end"] is None:
            return _unexpected_character(self._text[self._at])
        return self._add(word[0])

    def _accept(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def _end_redirection(self, target: str | None) -> str | None:
        if not self._words:
            return lazy("a redirection comes before the command")
        if target is not None and target != "/dev/null":
            self._targets.append(_unquote(target))
        return None

    def _add_bare(self, words: Sequence[str]) -> str | None:
        if not self._words:
            doubt = self._add(words[0])
            if doubt is not None:
                return doubt
            words = words[1:]
        self._words += words
        return None

    def _add(self, word: str) -> str | None:
        if self._words:
            self._words.append(_unquote(word))
            return None
        if not _NAME.match(word):
            return lazy("a command name is quoted or unusual, or a variable is assigned")
        if word in RESERVED:
            return lazy("it uses a shell keyword ({word})", word=word)
        self._words.append(word)
        return None

    def _end_command(self, *, is_needed: bool) -> str | None:
        if self._words:
            self._commands.append(tuple(self._words))
            self._words = []
            self._expects_command = False
            return None
        return lazy("a command is missing") if is_needed else None


def _unquote(word: str) -> str:
    return _QUOTED.sub(lambda match: match[1] or match[2] or "", word)


def _unexpected_character(character: str) -> str:
    if character in "<>":
        return REDIRECTS_UNUSUALLY
    if character in "'\"\\":
        return lazy("it contains escapes or expansions inside quotes")
    if character in "$`":
        return lazy("it contains a shell expansion")
    if character in "*?[]{}~":
        return lazy("it contains a shell pattern")
    return lazy("it contains an unsupported character: {character!r}", character=character)


def _find_doubt(commands: Sequence[tuple[str, ...]]) -> str | None:
    changes_directory = False
    for words in commands:
        name = words[0]
        if changes_directory and any(".." in word for word in words):
            return lazy("it uses .. after changing the directory")
        if name in STATE_BUILTINS:
            return lazy("{name} changes the shell or evaluates its arguments", name=name)
        if name in _VARIABLE_OPTION and "-v" in {word[:2] for word in words[1:]}:
            return lazy("{name} -v evaluates its argument", name=name)
        if name == "cd":
            changes_directory = True
            if not _is_subdirectory(words[1:]):
                return lazy("it may change to a directory outside the current one")
    return None


def _is_subdirectory(operands: Sequence[str]) -> bool:
    """Return whether relative paths stay inside, and as harmless, after changing to this directory."""
    if len(operands) != 1 or operands[0].startswith("-"):
        return False
    names = operands[0].removeprefix("/").removesuffix("/").split("/")
    return all(name and not name.startswith(".") for name in names)
