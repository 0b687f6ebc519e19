"""Fast reading of rule files in which most tables differ only in a command, a pattern or a priority.

A table with the same other lines as an earlier one is not parsed again: its rules are the earlier ones with other
values. Rules are made when they are first needed. Whatever is written in another way is left to the parser of TOML.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from tejat.policy.errors import PolicyError
from tejat.policy.rules.pattern_literals import is_surely_valid_glob, is_surely_valid_regex
from tejat.policy.types import PolicyRule

ParseTable = Callable[[Mapping[str, object], int], Sequence[PolicyRule]]
"""Makes the rules of a table from its values and its line. Raises PolicyError."""
_Changes = tuple[tuple[int, object], ...]
"""The values of fields, by their positions."""

_HEADER = "[[rule]]\n"
_MIN_TABLES = 100
"""In a smaller file the parser of TOML takes no time to speak of."""
_FIELDS: tuple[str, ...] = PolicyRule.__match_args__
_SOURCE = _FIELDS.index("source")
_TEXT = re.compile(r'([^"\\\n]*(?:\\["\\][^"\\\n]*)*)"(?=\n|\Z)')
_PREFIX = re.compile(r'([A-Za-z0-9_./:@%+,-]+(?: [A-Za-z0-9_./:@%+,=-]+)*)"(?=\n|\Z)')
_LINES = re.compile(
    r"(?:(?:[A-Za-z_]+ = "
    r'(?:"[^"\\\n]*"|0|[1-9][0-9]{0,8}|true|false|\["[^"\\\n]*"(?:, "[^"\\\n]*")*\])|#[^\n]*)?(?:\n|\Z))*'
)
_FREE_LINE = re.compile(
    r"^(?:priority = (?P<priority>0|[1-9][0-9]{0,2})"
    r'|(?P<key>name|description|message|denyMessage) = "(?P<text>[^"\\\n]*)")\n',
    re.MULTILINE,
)
_FREE_FIELDS = {"name": "name", "description": "description", "message": "message", "denyMessage": "message"}
_OPTIONAL = frozenset(("name", "description"))
"""An empty text is none."""


def read_sheet(text: str, *, file: str, parse: ParseTable) -> "RuleSheet | None":
    """Read a file of many tables `[[rule]]`, None if it has to be parsed as a whole, also to find an error in it."""
    before, *blocks = text.split(_HEADER)
    if len(blocks) < _MIN_TABLES:
        return None
    if not all(not line or (line.startswith("#") and line.isprintable()) for line in before.split("\n")):
        return None
    if not all(not each or each.endswith("\n") for each in (before, *blocks[:-1])):
        return None  # one of the headers is in a comment or a string
    try:
        return RuleSheet(file, _SheetReader(parse).read(blocks, before.count("\n") + 1))
    except (PolicyError, ValueError, RecursionError):
        return None


class RuleSheet(Sequence[PolicyRule]):
    """The rules of a file, made when one is needed."""

    def __init__(self, file: str, rows: "Sequence[_Row]") -> None:
        self._file = file
        self._rows = rows

    @property
    def table_count(self) -> int:
        """How many tables the file has."""
        return len(self._rows)

    @cached_property
    def representatives(self) -> tuple[PolicyRule, ...]:
        """One rule of each kind: the others differ only in source, priority, texts, command or pattern."""
        templates = {id(template): template for _, template, _, _, _ in self._rows}
        return tuple(rule for template in templates.values() for rule in template.rules)

    @cached_property
    def _rules(self) -> tuple[PolicyRule, ...]:
        file = self._file
        return tuple(
            rule
            for line, template, changes, variable, text in self._rows
            for rule in template.make_rules(f"{file}:{line}", changes, variable, text)
        )

    def __len__(self) -> int:
        return len(self._rules)

    @overload
    def __getitem__(self, index: int) -> PolicyRule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PolicyRule, ...]: ...
    def __getitem__(self, index: int | slice) -> PolicyRule | tuple[PolicyRule, ...]:
        return self._rules[index]

    def __iter__(self) -> Iterator[PolicyRule]:
        return iter(self._rules)


class _Template:
    """The rules of a table, for others like it."""

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self._values = [[getattr(rule, name) for name in _FIELDS] for rule in rules]

    def make_rules(
        self, source: str, changes: _Changes, variable: "_Variable | None", text: str
    ) -> Iterator[PolicyRule]:
        """Yield the rules with another source and other values."""
        for values in self._values:
            changed = values.copy()
            changed[_SOURCE] = source
            for position, value in changes:
                changed[position] = value
            if variable is not None:
                changed[variable.position] = variable.convert(text)
            yield PolicyRule(*changed)


class _SheetReader:
    def __init__(self, parse: ParseTable) -> None:
        self._parse = parse
        self._templates: dict[tuple[str, str], _Template] = {}
        self._rows: list[_Row] = []

    def read(self, blocks: Sequence[str], line: int) -> "Sequence[_Row]":
        """Read the texts below the headers, the first of which is in this line. Raises PolicyError or ValueError."""
        shapes: dict[tuple[_Variable, str], tuple[_Template, _Changes, int]] = {}
        variable = _VARIABLES[0]
        for block in blocks:
            at = block.find(variable.start)
            if at < 0:  # otherwise it is like its neighbour
                variable = next((each for each in _VARIABLES if each.start in block), variable)
                at = block.find(variable.start)
            string = variable.match(block, at) if at == 0 or (at > 0 and block[at - 1] == "\n") else None
            if string is None:
                line += self._add_alone(block, line)
                continue
            shape = variable, block[:at] + block[string.end() :]
            known = shapes.get(shape)
            if known is None:
                if "match = " in block:  # examples are checked for each rule
                    line += self._add_alone(block, line)
                    continue
                known = shapes[shape] = self._parse_shape(block, shape, line)
            self._rows.append((line, known[0], known[1], variable, string[1]))
            line += known[2]
        return self._rows

    def _add_alone(self, block: str, line: int) -> int:
        """Add a table that is like no other, and return how many lines it has."""
        self._rows.append((line, self._parse_block(block, line), (), None, ""))
        return block.count("\n") + 1

    def _parse_shape(self, block: str, shape: "tuple[_Variable, str]", line: int) -> tuple[_Template, _Changes, int]:
        """Return the template for a text without its variable, the values of other free lines, and how many it has."""
        variable, text = shape
        if not _LINES.fullmatch(text) or not text.replace("\n", "").isprintable():
            raise ValueError(text)
        free: dict[str, object] = {}

        def take(found: re.Match[str]) -> str:
            name = _FREE_FIELDS[found["key"]] if found["key"] else "priority"
            if name in free:
                raise ValueError(name)
            free[name] = int(found["priority"]) if name == "priority" else found["text"]
            return ""

        rest = _FREE_LINE.sub(take, text) + "\0".join(free), variable.key
        template = self._templates.get(rest)
        if template is None:
            template = self._templates[rest] = self._parse_block(block, line)
        changes = ((_FIELDS.index(name), value or None if name in _OPTIONAL else value) for name, value in free.items())
        return template, tuple(changes), block.count("\n") + 1

    def _parse_block(self, block: str, line: int) -> _Template:
        return _Template(self._parse(tomllib.loads(block), line))


class _Variable:
    """A key whose value may differ between tables, and the field of the rule that gets it.

    Without `is_simple` the value is the beginning of a command.
    """

    def __init__(self, key: str, field: str, is_simple: Callable[[str], bool] | None = None) -> None:
        self.key = key
        self.start = f'{key} = "'
        self.position = _FIELDS.index(field)
        self._is_simple = is_simple

    def match(self, block: str, at: int) -> re.Match[str] | None:
        """Return the string at this place, None if it has to be parsed with the rest of its table."""
        if self._is_simple is None:
            return _PREFIX.match(block, at + len(self.start))
        string = _TEXT.match(block, at + len(self.start))
        return string if string and string[1].isprintable() and self._is_simple(_unescape(string[1])) else None

    def convert(self, text: str) -> object:
        """Return the value of the field."""
        return tuple(text.split(" ")) if self._is_simple is None else _unescape(text)


_Row = tuple[int, _Template, _Changes, _Variable | None, str]
"""The line of a table, its template, and what it changes."""


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\")  # a printable text contains no NUL


def _is_simple_regex(text: str) -> bool:
    return is_surely_valid_regex(text) and not text.startswith("\\") and '": "' not in text


def _is_simple_glob(text: str) -> bool:
    return is_surely_valid_glob(text) and {".", ".."}.isdisjoint(text.split("/"))


_VARIABLES = (
    _Variable("commandPrefix", "command"),
    _Variable("command", "command"),
    _Variable("commandRegex", "command_pattern", _is_simple_regex),
    _Variable("argsPattern", "arguments", _is_simple_regex),
    _Variable("arguments", "arguments", _is_simple_regex),
    _Variable("path", "path", _is_simple_glob),
)
