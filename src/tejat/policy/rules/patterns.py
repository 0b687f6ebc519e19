"""Patterns in rules, matched in linear time: regular expressions for arguments and globs for paths."""

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy
from tejat.policy.rules.pattern_literals import is_surely_valid_glob, is_surely_valid_regex

if TYPE_CHECKING:
    from typing import Protocol

    class _Regex(Protocol):
        def search(self, text: bytes) -> object: ...
        def fullmatch(self, text: bytes) -> object: ...

    class _Options(Protocol):
        never_capture: bool
        log_errors: bool
        max_mem: int

    class _Re2(Protocol):
        # The package has no type annotations.
        @property
        def error(self) -> type[Exception]: ...
        def Options(self) -> _Options: ...  # noqa: N802 - its name there
        def compile(self, pattern: str, options: _Options) -> _Regex: ...


_MAX_MEMORY = 1 << 20
"""Bounds the compiled program: `(a{1000}){1000}` is rejected."""
_MAX_PATTERN_LENGTH = 10_000
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
NUL_ESCAPE = r"\x00"
"""NUL in a regular expression, as rules are written with it after they are parsed."""
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


class InvalidPattern(TejatError):
    """A pattern is invalid; the text says why."""


class UnsupportedPattern(InvalidPattern):
    """A regular expression is valid elsewhere, but cannot be matched in linear time."""


def matches_regex(expression: str, text: str) -> bool:
    """Return whether a regular expression matches anywhere in the text. Raises InvalidPattern."""
    return _compile(expression).search(_encode(text)) is not None


def validate_regex(expression: str) -> None:
    """Raise InvalidPattern for an invalid regular expression, UnsupportedPattern for one with look-around or such."""
    if is_surely_valid_regex(expression):
        return
    try:
        _compile(expression)
    except InvalidPattern as error:
        try:
            with warnings.catch_warnings(action="ignore"):
                re.compile(_NAMED_GROUP.sub("(?P<", expression))
        except (re.error, RecursionError, OverflowError):
            raise error from None
        raise UnsupportedPattern(str(error)) from None


def validate_glob(glob: str) -> None:
    """Raise InvalidPattern for an invalid glob."""
    if not is_surely_valid_glob(glob):
        _compile(_glob_to_regex(glob))


def is_valid_regex(expression: str) -> bool:
    """Return whether searching the expression raises nothing."""
    return is_surely_valid_regex(expression) or _is_valid(expression)


def is_valid_glob(glob: str) -> bool:
    """Return whether matching the glob raises nothing."""
    try:
        validate_glob(glob)
    except InvalidPattern:
        return False
    return True


@lru_cache(maxsize=4096)
def _is_valid(expression: str) -> bool:
    try:
        _compile(expression)
    except InvalidPattern:
        return False
    return True


def matches_glob(glob: str, path: str, *, roots: Sequence[str], home: str) -> bool:
    """Return whether a path matches a glob that is absolute, below `~/`, or relative to a root. Raises InvalidPattern.

    `*`, `?` and `[a-z]` stay within a name, `**` crosses directories, `{a,b}` are alternatives. `x/**` includes the
    directory `x` itself.
    """
    expression = _compile(_glob_to_regex(glob))
    spellings = _comparable_paths(glob, path, roots, home)
    return any(expression.fullmatch(_encode(spelling)) is not None for spelling in spellings)


def escape_path(path: str) -> str:
    """Return the glob that matches exactly this path."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)


def _comparable_paths(glob: str, path: str, roots: Sequence[str], home: str) -> Iterator[str]:
    """Yield the forms of the path that the glob is compared with."""
    if glob.startswith("/"):
        yield path
        return
    if glob == "~" or glob.startswith("~/"):
        if path == home:
            yield "~"
        elif path.startswith(home.rstrip("/") + "/"):
            yield "~/" + path[len(home.rstrip("/")) + 1 :]
        return
    for root in roots:
        if path == root:
            yield "."
            yield ""
        elif path.startswith(root.rstrip("/") + "/"):
            yield path[len(root.rstrip("/")) + 1 :]


@lru_cache(maxsize=1024)
def _glob_to_regex(glob: str) -> str:
    """Return the glob as a regular expression for a whole path. Raises InvalidPattern."""
    if not glob:
        raise InvalidPattern(lazy("a path pattern must not be empty"))
    if "\0" in glob:
        raise InvalidPattern(lazy("a path pattern contains a NUL"))
    body = glob.removeprefix("./")
    whole = body.removesuffix("/**")
    if whole == body != "/":
        whole = body.rstrip("/")  # a trailing slash means the directory with everything in it
    return _GlobTranslator(whole).translate() + ("(?:/(?s:.*))?" if whole != body else "")


class _GlobTranslator:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def translate(self) -> str:
        parts: list[str] = []
        while self._at < len(self._text):
            parts.append(self._next_part())
        if self._depth:
            raise InvalidPattern(lazy("a { is never closed"))
        return "".join(parts)

    def _next_part(self) -> str:
        character = self._text[self._at]
        if self._text.startswith("**/", self._at) and self._is_at_name():
            self._at += 3
            return "(?s:.*/)?"
        if self._text.startswith("**", self._at):
            self._at += 2
            return "(?s:.*)"
        self._at += 1
        match character:
            case "*":
                return "[^/]*"
            case "?":
                return "[^/]"
            case "[":
                return self._class()
            case "{":
                self._depth += 1
                return "(?:"
            case "}" if self._depth:
                self._depth -= 1
                return ")"
            case "," if self._depth:
                return "|"
            case "\\":
                return self._escape()
            case _:
                return _literal(character)

    def _is_at_name(self) -> bool:
        return self._at == 0 or self._text[self._at - 1] in "/{,"

    def _escape(self) -> str:
        if self._at == len(self._text):
            raise InvalidPattern(lazy("a \\ at the end escapes nothing"))
        self._at += 1
        return _literal(self._text[self._at - 1])

    def _class(self) -> str:
        end = self._text.find("]", self._at + (2 if self._text[self._at : self._at + 1] in ("!", "^") else 1))
        if end < 0:
            raise InvalidPattern(lazy("a [ is never closed"))
        inner = self._text[self._at : end]
        self._at = end + 1
        is_negated = inner[:1] in ("!", "^")
        members = "".join(character if character == "-" else _literal(character) for character in inner[is_negated:])
        if "/" in inner:
            raise InvalidPattern(lazy("[ ] cannot contain a /"))
        return f"[^/{members}]" if is_negated else f"[{members}]"


def _literal(character: str) -> str:
    return f"\\x{{{ord(character):X}}}" if character in _SPECIAL or character in "-&~#" else character


def _encode(text: str) -> bytes:
    # An invalid byte counts as one character, so that no name slips past `*`.
    return text.encode("utf-8", "replace")


@lru_cache(maxsize=1024)
def _compile(expression: str) -> "_Regex":
    import re2

    if len(expression) > _MAX_PATTERN_LENGTH:
        raise InvalidPattern(lazy("the pattern is longer than {longest} characters", longest=_MAX_PATTERN_LENGTH))
    engine = cast("_Re2", re2)
    options = engine.Options()
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return engine.compile(expression, options)
    except UnicodeEncodeError:
        raise InvalidPattern(lazy("the pattern is not text")) from None
    except engine.error as error:
        reason: object = error.args[0] if error.args else "not understood"
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidPattern(lazy("invalid pattern: {words}", words=words)) from None
