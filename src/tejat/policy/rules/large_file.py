"""Fast reading of rule files in which most tables differ only in a command, a pattern or a priority.

A table with the same other lines as an earlier one is not parsed again: its rules are the earlier ones with other
values. Whatever is written in another way is left to the parser of TOML.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence

from tejat.policy.errors import PolicyError
from tejat.policy.rules.lazy_rules import FIELDS, Changes, LazyRules, RuleTemplate, TableRow
from tejat.policy.rules.pattern_literals import is_surely_valid_glob, is_surely_valid_regex
from tejat.policy.types import PolicyRule

ParseTable = Callable[[Mapping[str, object], int], Sequence[PolicyRule]]
"""Makes the rules of a table from its values and its line. Raises PolicyError."""

_HEADER = "[[rule]]\n"
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


def read_large_file(text: str, *, file: str, parse: ParseTable) -> "LazyRules | None":
    """Read a file of many tables `[[rule]]`, None if it has to be parsed as a whole, also to find an error in it."""
    before, *blocks = text.split(_HEADER)
    if not all(not line or (line.startswith("#") and line.isprintable()) for line in before.split("\n")):
        return None
    if len(blocks) != text.count(f"\n{_HEADER}") + text.startswith(_HEADER):
        return None  # one of the headers is in a comment or a string
    try:
        return LazyRules(file, _LargeFileReader(parse).read(blocks, before.count("\n") + 1))
    except (PolicyError, ValueError, RecursionError):
        return None


class _LargeFileReader:
    def __init__(self, parse: ParseTable) -> None:
        self._parse = parse
        self._templates: dict[tuple[str, str], RuleTemplate] = {}
        self._rows: list[TableRow] = []

    def read(self, blocks: Sequence[str], line: int) -> Sequence[TableRow]:
        """Read the texts below the headers, the first of which is in this line. Raises PolicyError or ValueError."""
        shapes: dict[tuple[_Variable, str], tuple[RuleTemplate, Changes, int]] = {}
        variable = _VARIABLES[0]
        for block in blocks:
            at = block.find(variable.start)
            if at < 0:  # otherwise it is like its neighbour
                variable = next((each for each in _VARIABLES if each.start in block), variable)
                at = block.find(variable.start)
            is_line = at == 0 or (at > 0 and block[at - 1] == "\n")
            string = variable.match(block, at + variable.length) if is_line else None
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

    def _parse_shape(self, block: str, shape: "tuple[_Variable, str]", line: int) -> tuple[RuleTemplate, Changes, int]:
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
        changes = ((FIELDS.index(name), value or None if name in _OPTIONAL else value) for name, value in free.items())
        return template, tuple(changes), block.count("\n") + 1

    def _parse_block(self, block: str, line: int) -> RuleTemplate:
        return RuleTemplate(self._parse(tomllib.loads(block), line))


class _Variable:
    """A key whose value may differ between tables, and the field of the rule that gets it.

    Without `is_simple` the value is the beginning of a command.
    """

    def __init__(self, key: str, field: str, is_simple: Callable[[str], bool] | None = None) -> None:
        self.key = key
        self.start = f'{key} = "'
        self.position = FIELDS.index(field)
        self.length = len(self.start)
        self._is_simple = is_simple
        self.match: Callable[[str, int], re.Match[str] | None] = self._match_text if is_simple else _PREFIX.match
        """Returns the string at a place, None if it has to be parsed with the rest of its table."""

    def _match_text(self, block: str, at: int) -> re.Match[str] | None:
        string = _TEXT.match(block, at)
        is_simple = self._is_simple is None or (string and self._is_simple(_unescape(string[1])))
        return string if string and string[1].isprintable() and is_simple else None

    def convert(self, text: str) -> object:
        """Return the value of the field."""
        return tuple(text.split(" ")) if self._is_simple is None else _unescape(text)


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
