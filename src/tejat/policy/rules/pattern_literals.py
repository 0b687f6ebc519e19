"""Texts that a pattern needs in order to match, so that most patterns need not be compiled or searched.

Both kinds of answers are one-sided: a pattern that is not understood here has no known literals, and is compiled.
"""

import re
from collections.abc import Iterator
from functools import cache

_MAX_LENGTH = 300
"""Longer patterns are compiled, because their programs may be too large."""
_MIN_RUN = 3
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./ -")
"""Characters that neither JSON nor the quoting of a shell word changes."""
_REPETITION = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_GROUP_START = re.compile(r"\((?!\?)|\(\?:|\(\?P?<[A-Za-z_]\w*>")
_CLASS_ESCAPES = frozenset("sSdDwWbB")


def is_surely_valid_regex(expression: str) -> bool:
    """Return whether a regular expression certainly compiles. False means that only compiling it tells."""
    return "\n" not in expression and are_surely_valid_regexes(expression)


def are_surely_valid_regexes(lines: str) -> bool:
    """Return whether each line is a regular expression that certainly compiles."""
    if not lines.isascii() or not lines.replace("\n", "").isprintable():
        return False
    return _valid_regexes().fullmatch(lines) is not None


@cache
def _valid_regexes() -> re.Pattern[str]:
    """The regular expression of lines with surely valid regular expressions, whose groups are not nested."""
    members = r"(?:a-z|A-Z|0-9|\\[sdw]|[A-Za-z0-9_./ :])+"
    literals = r"[^\\()\[\]{}*+?.^$|\n]++"
    one = rf"{literals}|\\[^a-zA-Z0-9\n]|\\[sSdDwW]|\.|\[\^?{members}\]"
    part = rf"(?:{one})(?:[*+?]\??)?|\\[bB]|[\^$|]"
    return _lines_of(rf"(?:{part}|\((?:\?:)?(?:{part})*\)(?:[*+?]\??)?)*")


def is_surely_valid_glob(glob: str) -> bool:
    """Return whether a glob certainly compiles."""
    return "\n" not in glob and are_surely_valid_globs(glob)


def are_surely_valid_globs(lines: str) -> bool:
    """Return whether each line is a glob that certainly compiles."""
    return _valid_globs().fullmatch(lines) is not None


@cache
def _valid_globs() -> re.Pattern[str]:
    return _lines_of(r"[A-Za-z0-9_./*?-]+")


def _lines_of(expression: str) -> re.Pattern[str]:
    """The regular expression of lines that match this one and are not too long."""
    line = rf"(?![^\n]{{{_MAX_LENGTH + 1}}}){expression}"
    return re.compile(rf"{line}(?:\n{line})*+")


def glob_literals(glob: str) -> tuple[str, ...]:
    """Return texts that all occur in every path that the glob matches; empty if none is known."""
    if not _SPECIAL_IN_GLOB.isdisjoint(glob):
        return ()
    return tuple(part for part in re.split(r"[*?/]+", glob) if len(part) >= _MIN_RUN and _SAFE.issuperset(part))


_SPECIAL_IN_GLOB = frozenset("{}[]\\")


def regex_literals(expression: str) -> tuple[tuple[str, ...], ...]:
    """Return texts for each alternative of a valid expression, which all occur in whatever the alternative matches.

    They consist of letters, digits, blanks and `_./-`. Empty if nothing is known about an alternative.
    """
    found: list[tuple[str, ...]] = []
    for alternative in _LiteralScanner(expression).alternatives():
        if not alternative:
            return ()
        found.append(alternative)
    return tuple(found)


class _LiteralScanner:
    def __init__(self, expression: str) -> None:
        self._text = expression
        self._at = 0
        self._run = ""
        self._runs: list[str] = []

    def alternatives(self) -> Iterator[tuple[str, ...]]:
        """Yield the literals of each alternative; an empty tuple means that nothing is known from there on."""
        while self._at < len(self._text):
            if self._text[self._at] == "|":
                self._at += 1
                yield self._end_alternative()
            elif not self._step():
                yield ()
                return
        yield self._end_alternative()

    def _end_alternative(self) -> tuple[str, ...]:
        self._end_run()
        found, self._runs = tuple(self._runs), []
        return found

    def _end_run(self) -> None:
        if len(self._run) >= _MIN_RUN:
            self._runs.append(self._run)
        self._run = ""

    def _step(self) -> bool:
        """Go on by one part. Return False if it is not understood."""
        character = self._text[self._at]
        if character in "*?{":
            self._run = self._run[:-1]  # the character before may be missing
            self._end_run()
            repetition = _REPETITION.match(self._text, self._at)
            self._at = repetition.end() if repetition else self._at + 1
            return True
        if character == "\\":
            return self._escape()
        if character == "[":
            self._end_run()
            return self._skip_class()
        if character == "(":
            self._end_run()
            return self._skip_group()
        self._at += 1
        if character in _SAFE and character != ".":
            self._run += character
        else:
            self._end_run()
        return character != ")"

    def _escape(self) -> bool:
        escaped = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if escaped in _SAFE and not escaped.isalnum() and escaped != "_":
            self._run += escaped
            return bool(escaped)
        self._end_run()
        return escaped in _CLASS_ESCAPES or (escaped.isascii() and not escaped.isalnum() and bool(escaped))

    def _skip_class(self) -> bool:
        at = self._at + 1
        if self._text.startswith("^", at):
            at += 1
        if self._text.startswith("]", at):
            at += 1
        while at < len(self._text) and self._text[at] != "]":
            if self._text.startswith("[:", at):
                at = self._text.find(":]", at) + 2
                if at < 2:
                    return False
            elif self._text[at] == "\\":
                if self._text[at + 1 : at + 2] in ("Q", "E"):
                    return False
                at += 2
            else:
                at += 1
        self._at = at + 1
        return at < len(self._text)

    def _skip_group(self) -> bool:
        depth = 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "(":
                start = _GROUP_START.match(self._text, self._at)
                if start is None:
                    return False
                depth += 1
                self._at = start.end()
            elif character == ")":
                depth -= 1
                self._at += 1
                if depth == 0:
                    return True
            elif character == "[":
                if not self._skip_class():
                    return False
            elif character == "\\":
                if self._text[self._at + 1 : self._at + 2] in ("Q", "E", ""):
                    return False
                self._at += 2
            else:
                self._at += 1
        return False
