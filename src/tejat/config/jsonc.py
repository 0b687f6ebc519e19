"""A parser for JSON with comments and trailing commas that records positions."""

import json
import re
from collections.abc import Callable
from math import isinf
from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy

MAX_DEPTH = 100

JsoncValue: TypeAlias = "dict[str, JsonNode] | list[JsonNode] | str | int | float | bool | None"


class JsonNode(Frozen):
    """A value, and the line and column, from 1, where it begins."""

    value: JsoncValue
    line: int
    column: int


class JsoncError(ValueError):
    """Invalid JSON. The message ends with `line` and `column`."""

    def __init__(self, problem: str, *, line: int, column: int) -> None:
        super().__init__(lazy("{why} at line {line}, column {column}", why=problem, line=line, column=column))
        self.line = line
        self.column = column


class MemberSpan(Frozen):
    """Positions of a member of an object: its key, its value, and the end of that."""

    key: int
    value: int
    end: int


MemberCallback: TypeAlias = Callable[[dict[str, JsonNode], str, MemberSpan], None]
"""Called for every member with its object, its key and its position."""


def parse_jsonc(text: str, on_member: MemberCallback | None = None) -> JsonNode:
    """Parse a text. Positions passed to `on_member` do not count a byte order mark.

    Raises JsoncError, also for duplicate keys and for nesting past MAX_DEPTH.
    """
    reader = _Parser(text.removeprefix("\ufeff"), on_member)
    reader.skip_space()
    node = reader.read_value(MAX_DEPTH)
    reader.skip_space()
    if reader.position < len(reader.text):
        raise reader.error(lazy("unexpected text after the value"))
    return node


class _Parser:
    __slots__ = ("_line", "_line_start", "_on_member", "position", "text")

    def __init__(self, text: str, note: MemberCallback | None) -> None:
        self.text = text
        self._on_member = note
        self.position = 0
        self._line = 1
        self._line_start = 0

    def error(self, words: str, position: int | None = None) -> JsoncError:
        at = self.position if position is None else position
        line = self.text.count("\n", 0, at) + 1
        return JsoncError(words, line=line, column=at - self.text.rfind("\n", 0, at))

    def skip_space(self) -> None:
        """Skip white space and comments, and count lines."""
        while found := _SPACE.match(self.text, self.position):
            skipped = found.group()
            if newlines := skipped.count("\n"):
                self._line += newlines
                self._line_start = self.position + skipped.rindex("\n") + 1
            self.position = found.end()
        if self.text.startswith("/*", self.position):
            raise self.error(lazy("unterminated comment"))

    def read_value(self, depth: int) -> JsonNode:
        line, column = self._line, self.position - self._line_start + 1
        return JsonNode(self._read(depth), line, column)

    def _read(self, depth: int) -> JsoncValue:
        first = self.text[self.position : self.position + 1]
        if first in ("{", "["):
            if depth == 0:
                raise self.error(lazy("nested more than {most} levels deep", most=MAX_DEPTH))
            return self._read_object(depth - 1) if first == "{" else self._read_array(depth - 1)
        if first == '"':
            return self._read_string()
        for word, value in _KEYWORDS.items():
            if self.text.startswith(word, self.position) and not self._continues(self.position + len(word)):
                self.position += len(word)
                return value
        if first in _NUMBER_STARTS and (number := re.compile(_NUMBER).match(self.text, self.position)):
            return self._read_number(number)
        if first in ("", "}", "]", ",", ":"):
            raise self.error(lazy("a value is missing"))
        raise self.error(lazy("{first!r} does not start a value", first=first))

    def _continues(self, position: int) -> bool:
        """Whether a word goes on there."""
        following = self.text[position : position + 1]
        return following.isalnum() or following == "_"

    def _read_object(self, depth: int) -> dict[str, JsonNode]:
        members: dict[str, JsonNode] = {}
        self._advance()
        while not self._consume("}"):
            start = self.position
            if not self.text.startswith('"', start):
                raise self.error(lazy("a key in double quotes is missing"))
            key = self._read_string()
            if key in members:
                problem = lazy('duplicate key "{key}" (first at line {line})', key=key, line=members[key].line)
                raise self.error(problem, start)
            self.skip_space()
            if not self.text.startswith(":", self.position):
                raise self.error(lazy('":" is missing after the key "{key}"', key=key))
            self._advance()
            begin = self.position
            members[key] = self.read_value(depth)
            if self._on_member is not None:
                self._on_member(members, key, MemberSpan(start, begin, self.position))
            self._end_member("}")
        return members

    def _read_array(self, depth: int) -> list[JsonNode]:
        items: list[JsonNode] = []
        self._advance()
        while not self._consume("]"):
            items.append(self.read_value(depth))
            self._end_member("]")
        return items

    def _advance(self) -> None:
        self.position += 1
        self.skip_space()

    def _consume(self, closing: str) -> bool:
        if not self.text.startswith(closing, self.position):
            return False
        self.position += 1
        return True

    def _end_member(self, closing: str) -> None:
        self.skip_space()
        if self.text.startswith(",", self.position):
            self._advance()
        elif not self.text.startswith(closing, self.position):
            raise self.error(lazy('"," or "{closing}" is missing', closing=closing))

    def _read_string(self) -> str:
        start = self.position
        found = _STRING_START.match(self.text, start)
        end = found.end() if found else start
        following = self.text[end : end + 1]
        if following in ("", "\n"):
            raise self.error(lazy("unterminated string"), start)
        if following == "\\":
            raise self.error(lazy("invalid escape"), end)
        if following != '"':
            raise self.error(lazy("control character (U+{code:04X}) in a string", code=ord(following)), end)
        self.position = end + 1
        written = self.text[start : self.position]
        value = written[1:-1] if "\\" not in written else str(json.loads(written))
        if not value.isascii() and re.search(_SURROGATE, value):
            raise self.error(lazy("lone surrogate in a string"), start)
        return value

    def _read_number(self, found: re.Match[str]) -> int | float:
        written = found.group()
        if len(written) > _NUMBER_LENGTH:
            raise self.error(lazy("number too long"))
        number = float(written) if found[1] or found[2] else int(written)
        if isinf(number):
            raise self.error(lazy("number too large"))
        self.position = found.end()
        return number


_NUMBER_LENGTH = 300
_SPACE = re.compile(r"[ \t\r\n]+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_KEYWORDS = {"true": True, "false": False, "null": None}
_NUMBER_STARTS = frozenset("-0123456789")
_NUMBER = r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
# Python before 3.11.5 matches possessive groups wrongly: only classes are possessive here.
_STRING_START = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*')
_SURROGATE = "[\ud800-\udfff]"
