r"""Character classes in search patterns, rendered in the syntax of each matcher.

Python, PCRE, RE2 and ripgrep differ in `\w`, case folding and property names. RE2's view of a class is the reference,
made Unicode-aware by spelling the Perl classes out; where another matcher might differ it gets plain ranges of code
points.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Protocol, cast

import re2

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen

Ranges = tuple[tuple[int, int], ...]
"""First and last code point of each run, ascending."""

NO_CHARACTER = r"[^\x00-\x{10FFFF}]"
"""Class that matches nothing, for RE2, ripgrep and PCRE."""

_LAST_CODE_POINT = 0x10FFFF
_FIRST_SURROGATE, _LAST_SURROGATE = 0xD800, 0xDFFF
_MEMORY = 64 << 20
_ASCII = bytes(code for code in range(1, 128) if code not in b"\r\n")
# The sets of Unicode's technical standard 18, annex C, in RE2 syntax: letters, marks, decimal digits,
# connecting punctuation, joiners, and the few alphabetic symbols that are not letters.
_WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}"
    r"\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
)
_SPACE = r"\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
_NO_SPACE = (
    r"\x00-\x08\x0E-\x1F\x21-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}"
    r"\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}"
)
_SPECIAL = frozenset(r"\.+*?()|[]{}^$&-~#")


class LinearMatch(Protocol):
    def start(self) -> int: ...
    def end(self) -> int: ...
    def group(self) -> bytes: ...


class LinearRegex(Protocol):
    """A compiled expression that matches in linear time."""

    @property
    def programsize(self) -> int: ...
    def search(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> LinearMatch | None: ...
    def finditer(self, text: bytes) -> Iterator[LinearMatch]: ...


class _Options(Protocol):
    never_nl: bool
    never_capture: bool
    log_errors: bool
    max_mem: int


class _Re2(Protocol):
    # The package has no type annotations.
    @property
    def error(self) -> type[Exception]: ...
    def Options(self) -> _Options: ...  # noqa: N802 - its name there
    def compile(self, pattern: str, options: _Options) -> LinearRegex: ...


_re2 = cast(_Re2, re2)


class InvalidRegex(TejatError):
    """RE2 rejects an expression; the text says why."""


def compile_linear(expression: str, *, crosses_lines: bool = False) -> LinearRegex:
    """Compile an expression in RE2 syntax. By default it never matches a line feed. Raises InvalidRegex."""
    options = _re2.Options()
    options.never_nl = not crosses_lines
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return _re2.compile(expression, options)
    except _re2.error as error:
        reason: object = error.args[0] if error.args else "not understood"
        raise InvalidRegex(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None


def escape(character: str) -> str:
    """Escape one character for all four syntaxes, inside a class or outside."""
    if character in _SPECIAL:
        return "\\" + character
    if character < " " or character == "\x7f":
        return f"\\x{ord(character):02X}"
    return character


class ClassItem(Frozen):
    """Item of a class: a character, a range or a named set. `character` is set only for a single one."""

    character: str | None
    re2: str
    ripgrep: str
    is_named: bool = False
    """Whether its members depend on the matcher's version of Unicode."""

    @classmethod
    def from_character(cls, character: str) -> "ClassItem":
        return cls(character, escape(character), escape(character))

    @classmethod
    def from_range(cls, first: str, last: str) -> "ClassItem":
        text = f"{escape(first)}-{escape(last)}"
        return cls(None, text, text)

    @classmethod
    def from_posix(cls, text: str) -> "ClassItem":
        """Create the item for a whole POSIX class such as `[:alpha:]`."""
        return cls(None, text, text, is_named=True)

    @classmethod
    def from_property(cls, name: str, *, negated: bool) -> "ClassItem":
        text = f"\\{'P' if negated else 'p'}{{{name}}}"
        return cls(None, text, text, is_named=True)


class CharacterClass(Frozen):
    """A set of characters that never includes line endings."""

    items: tuple[ClassItem, ...]
    negated: bool
    ignores_case: bool

    @property
    def re2(self) -> str:
        return self._format(item.re2 or _non_word_ranges() for item in self.items)

    @property
    def ripgrep(self) -> str:
        return self._format(item.ripgrep for item in self.items)

    @property
    def pcre(self) -> str:
        r"""The class for PCRE, which sees properties and `[:alpha:]` differently and gets those as ranges."""
        if any(item.is_named for item in self.items):
            return f"[{format_ranges(self.ranges)}]" if self.ranges else NO_CHARACTER
        if PERL_CLASSES["W"] not in self.items:
            return f"(?:(?![\\r\\n]){self.re2})"
        others = "".join(item.re2 for item in self.items)
        either = f"[^{_WORD}]|[{others}]" if others else f"[^{_WORD}]"
        return f"(?:(?!{either})[^\\r\\n])" if self.negated else f"(?:(?![\\r\\n])(?:{either}))"

    @property
    def ranges(self) -> Ranges:
        """Its code points after case folding. Raises InvalidRegex for an unknown property."""
        return _ranges(("(?i)" if self.ignores_case else "") + self.re2)

    @property
    def ascii_members(self) -> bytes:
        """Its ASCII characters after case folding, without NUL and line endings."""
        expression = compile_linear(("(?i)" if self.ignores_case else "") + self.re2)
        return b"".join(found.group() for found in expression.finditer(_ASCII))

    def _format(self, items: Iterable[str]) -> str:
        return f"[{'^' if self.negated else ''}{''.join(items)}]"


PERL_CLASSES = {
    "d": ClassItem(None, r"\p{Nd}", r"\d"),
    "D": ClassItem(None, r"\P{Nd}", r"\D"),
    "s": ClassItem(None, _SPACE, r"\s"),
    "S": ClassItem(None, _NO_SPACE, r"\S"),
    "w": ClassItem(None, _WORD, r"\w"),
    # RE2 cannot name it inside a class, so the ranges are computed when needed.
    "W": ClassItem(None, "", r"\W"),
}


WORD = CharacterClass((PERL_CLASSES["w"],), negated=False, ignores_case=False)
r"""The characters that `\w` matches."""


def fold_ranges(character: str) -> Ranges:
    """Return the characters that equal this one if case is ignored."""
    return _ranges("(?i)" + escape(character))


def format_ranges(ranges: Ranges) -> str:
    r"""Format ranges as the inside of a class for RE2, ripgrep and PCRE."""
    return "".join(f"\\x{{{first:X}}}" + (f"-\\x{{{last:X}}}" if last > first else "") for first, last in ranges)


@cache
def _non_word_ranges() -> str:
    outside: list[tuple[int, int]] = []
    start = 0
    for first, last in WORD.ranges:
        if first > start:
            outside.append((start, first - 1))
        start = last + 1
    return format_ranges((*outside, (start, _LAST_CODE_POINT)))


@lru_cache(maxsize=128)
def _ranges(expression: str) -> Ranges:
    # Asking RE2 about every character takes some milliseconds and cannot disagree with what RE2 matches.
    runs: list[tuple[int, int]] = []
    for found in compile_linear(f"(?:{expression})+").finditer(_every_character()):
        run = found.group().decode()
        runs += _without_surrogates(ord(run[0]), ord(run[-1]))
    return tuple(runs)


def _without_surrogates(first: int, last: int) -> list[tuple[int, int]]:
    if first < _FIRST_SURROGATE and last > _LAST_SURROGATE:
        return [(first, _FIRST_SURROGATE - 1), (_LAST_SURROGATE + 1, last)]
    return [(first, last)]


@cache
def _every_character() -> bytes:
    # A line feed replaces the carriage return: neither is in any set, and it breaks the run.
    code_points = array("I", range(_LAST_CODE_POINT + 1))
    del code_points[_FIRST_SURROGATE : _LAST_SURROGATE + 1]
    code_points[ord("\r")] = ord("\n")
    return code_points.tobytes().decode(f"utf-32-{sys.byteorder[:1]}e").encode()
