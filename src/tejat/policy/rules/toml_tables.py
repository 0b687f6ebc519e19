"""Arrays of tables in TOML, with file and line in every error."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from tejat.core.i18n import lazy
from tejat.core.text.edit_distance import edit_distance
from tejat.policy.errors import PolicyError

_LINE_OF_ERROR = re.compile(r"at line (\d+)")
_TOKEN = re.compile(
    r"""
    (?P<comment> \#[^\n]* )
    | (?P<string> \"{3} (?:[^\\]|\\.)*? \"{3,5} | '{3} .*? '{3,5} | " (?:[^"\\\n]|\\.)* " | ' [^'\n]* ' )
    | (?P<newline> \n )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    """,
    re.VERBOSE | re.DOTALL,
)


class TomlTable:
    """One table of an array. Every method raises PolicyError for a value of the wrong type.

    A key may have aliases; a table may use only one of them.
    """

    def __init__(self, values: Mapping[str, object], *, file: str, line: int, key_lines: Mapping[str, int]) -> None:
        self._values = values
        self._key_lines = key_lines
        self.file = file
        self.line = line

    def error(self, message: str, *, key: str | None = None) -> PolicyError:
        return PolicyError(self.file, self._key_lines.get(key or "", self.line), message)

    def validate_keys(self, known: Collection[str], *, meant: Mapping[str, str] = MappingProxyType({})) -> None:
        """Raise PolicyError for an unknown key. `meant` has the right words for common mistakes."""
        for key in self._values:
            if key not in known:
                message = lazy("unknown key {key!r}", key=key)
                if near := meant.get(key) or _closest_key(key, known):
                    message = lazy("unknown key {key!r}; did you mean {near}?", key=key, near=near)
                raise self.error(message, key=key)

    def key(self, *spellings: str) -> str | None:
        """Return the alias that is used, None if there is none."""
        given = [key for key in spellings if key in self._values]
        if len(given) > 1:
            message = lazy("{given} and {other} mean the same: use only one", given=given[0], other=given[1])
            raise self.error(message, key=given[1])
        return given[0] if given else None

    def value(self, *spellings: str) -> object:
        key = self.key(*spellings)
        return None if key is None else self._values[key]

    def string(self, *spellings: str) -> str | None:
        value = self.value(*spellings)
        if value is None or isinstance(value, str):
            return value
        raise self._type_error(lazy("a string"), spellings)

    def strings(self, *spellings: str) -> tuple[str, ...] | None:
        """Return a string or a non-empty list of strings."""
        value = self.value(*spellings)
        if value is None:
            return None
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and value and all(isinstance(item, str) for item in cast("list[object]", value)):
            return tuple(cast("list[str]", value))
        raise self._type_error(lazy("a string or a list of strings"), spellings)

    def items(self, *spellings: str) -> tuple[object, ...]:
        value = self.value(*spellings)
        if value is None:
            return ()
        if isinstance(value, list):
            return tuple(cast("list[object]", value))
        raise self._type_error(lazy("a list"), spellings)

    def boolean(self, *spellings: str) -> bool:
        value = self.value(*spellings)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self._type_error(lazy("true or false"), spellings)

    def integer(self, key: str, *, maximum: int) -> int:
        value = self.value(key)
        if value is None:
            return 0
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= maximum:
            return value
        raise self._type_error(lazy("an integer from 0 to {most}", most=maximum), (key,))

    def _type_error(self, expected: str, spellings: Sequence[str]) -> PolicyError:
        key = self.key(*spellings)
        return self.error(lazy("{key} must be {wanted}", key=key, wanted=expected), key=key)


def parse_tables(text: str, name: str, *, file: str, beside: Collection[str] = ()) -> list[TomlTable]:
    """Return the tables `[[name]]` of a TOML text. Raises PolicyError for anything else but tables of `beside`."""
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise PolicyError(file, 1, lazy("invalid TOML: it is nested too deeply")) from None
    except ValueError as error:
        raise PolicyError(file, _line_of_error(error, text), lazy("invalid TOML: {why}", why=error)) from None
    other = next((key for key in values if key != name and key not in beside), None)
    if other is not None:
        message = lazy("unknown table {other!r}: only [[{name}]] is allowed", other=other, name=name)
        raise PolicyError(file, _line_of(text, other), message)
    tables: object = values.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in cast("list[object]", tables)):
        raise PolicyError(file, _line_of(text, name), lazy("{name!r} must be written as tables [[{name}]]", name=name))
    found_tables = cast("list[dict[str, object]]", tables)
    headers = _header_lines(text, name)
    if len(headers) != len(found_tables):  # not written with headers
        headers = [(1, dict[str, int]())] * len(found_tables)
    return [
        TomlTable(table, file=file, line=line, key_lines=key_lines)
        for table, (line, key_lines) in zip(found_tables, headers, strict=True)
    ]


def _line_of_error(error: ValueError, text: str) -> int:
    if "end of document" in str(error):
        return text.count("\n") + 1
    found = _LINE_OF_ERROR.search(str(error))
    return int(found[1]) if found else 1


def _header_lines(text: str, name: str) -> list[tuple[int, dict[str, int]]]:
    """Return the line of each header `[[name]]` and the lines of the keys below it."""
    header = re.compile(rf"""[ \t]*\[\[[ \t]*(?:{name}|"{name}"|'{name}')[ \t]*\]\]""")
    key = re.compile(r"""[ \t]*["']?([A-Za-z0-9_-]+)["']?[ \t]*=""")
    found: list[tuple[int, dict[str, int]]] = []
    at, line, depth = 0, 1, 0
    is_line_start = True
    while True:
        if is_line_start and depth == 0:
            if header.match(text, at):
                found.append((line, {}))
            elif found and (given := key.match(text, at)):
                found[-1][1].setdefault(given[1], line)
        token = _TOKEN.search(text, at)
        if token is None:
            return found
        at = token.end()
        line += token[0].count("\n")
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        is_line_start = token.lastgroup == "newline"


def _line_of(text: str, key: str) -> int:
    """Return the first line that begins with this key or its header, else 1."""
    beginning = re.compile(rf"""[ \t]*\[*[ \t]*["']?{re.escape(key)}\b""")
    return next((number for number, line in enumerate(text.split("\n"), 1) if beginning.match(line)), 1)


def _closest_key(word: str, known: Collection[str]) -> str | None:
    """Return the most similar known key, None if none is close."""
    distances = {candidate: edit_distance(word[:64].lower(), candidate.lower()) for candidate in known}
    best = min(distances, key=lambda candidate: distances[candidate])
    return best if distances[best] <= max(2, len(best) // 2) else None
