"""Fast reading of rule files in which most tables differ only in a command, a pattern or a priority.

A table with the same other lines as an earlier one is not parsed again: its rules are the earlier ones with other
values. Whatever is written in another way is left to the parser of TOML.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tejat.policy.errors import PolicyError
from tejat.policy.rules.lazy_rules import (
    FIELDS,
    Changes,
    LazyRules,
    RuleTemplate,
    Shape,
    TableKind,
    TableText,
    shape_of,
)
from tejat.policy.rules.pattern_literals import are_surely_valid_globs, are_surely_valid_regexes
from tejat.policy.types import PolicyRule

ParseTable = Callable[[Mapping[str, object], int], Sequence[PolicyRule]]
"""Makes the rules of a table from its values and its line. Raises PolicyError."""

_HEADER = "[[rule]]\n"
_KEYS = "command(?:Prefix|Regex)?|arg(?:sPattern|uments)|path"
_PLAIN = r'[^"\\\x00-\x1f\x7f]*+'
# Without backtracking: a table is read line by line up to the first that begins with one of the keys. If its value is
# no string on that line, the key is missing here, and the line is one of those after it.
_TABLE = re.compile(
    rf'\[\[rule\]\]\n((?:(?!\[\[rule\]\]\n|(?:{_KEYS}) = ")[^\n]*+\n)*+)'
    rf'(?:({_KEYS}) = "({_PLAIN}(?:\\["\\]{_PLAIN})*+)"(?=\n))?+'
    r"([^\[]*+(?:\[(?!\[rule\]\]\n)[^\[]*+)*+)"
)
_PREFIX = r"[A-Za-z0-9_./:@%+,-]++(?: [A-Za-z0-9_./:@%+,=-]++)*+"
_PREFIXES = re.compile(rf"{_PREFIX}(?:\n{_PREFIX})*+")
_RELATIVE_PART = re.compile(r"(?:^|/)\.\.?(?:/|$)", re.MULTILINE)
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


def read_large_file(text: str, *, file: str, parse: ParseTable) -> LazyRules | None:
    """Read a file of many tables `[[rule]]`, None if it has to be parsed as a whole, also to find an error in it."""
    start = text.find(_HEADER)
    before = text[: max(start, 0)]
    if start < 0 or not all(not line or (line.startswith("#") and line.isprintable()) for line in before.split("\n")):
        return None
    tables: list[TableText] = _TABLE.findall(text if text.endswith("\n") else f"{text}\n")
    if len(tables) != text.count(f"\n{_HEADER}") + text.startswith(_HEADER):
        return None  # one of the headers is in a comment or a string
    samples = _find_samples(tables)
    if unusual := {*_find_odd_values(tables), *_find_examples(samples)}:
        tables = [_join(table) if not unusual.isdisjoint((table[1:3], shape_of(table))) else table for table in tables]
        samples = _find_samples(tables)
    line = before.count("\n") + 1
    try:
        return LazyRules(file, line, tables, _KindReader(parse, line).read(samples))
    except (PolicyError, ValueError, RecursionError):
        return None


def _find_samples(tables: Sequence[TableText]) -> Mapping[Shape, TableText]:
    """Return one table of each shape."""
    return dict(zip(map(shape_of, tables), tables, strict=True))


def _find_odd_values(tables: Iterable[TableText]) -> Iterator[tuple[str, str]]:
    """Yield the keys and values that have to be parsed with the rest of their tables."""
    values: dict[str, list[str]] = {key: [] for key in ("", *_VARIABLES)}
    for _, key, value, _ in tables:
        values[key].append(value)
    for key, variable in _VARIABLES.items():
        yield from ((key, value) for value in variable.find_odd(values[key]))


def _find_examples(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """Yield the shapes with examples, which are checked for each rule."""
    return (shape for shape in shapes if shape[1] and ("match = " in shape[0] or "match = " in shape[2]))


def _join(table: TableText) -> TableText:
    """Return a table without a variable, which is parsed for itself."""
    before, key, value, after = table
    return before, "", "", f'{key} = "{value}"{after}'


class _KindReader:
    def __init__(self, parse: ParseTable, line: int) -> None:
        self._parse = parse
        self._line = line
        self._templates: dict[tuple[str, str], RuleTemplate] = {}

    def read(self, samples: Mapping[Shape, TableText]) -> Mapping[Shape, TableKind]:
        """Return the kinds of tables. Raises PolicyError or ValueError."""
        return {shape: self._read_kind(shape, value) for shape, (_, _, value, _) in samples.items()}

    def _read_kind(self, shape: Shape, value: str) -> TableKind:
        before, key, after = shape
        if not key:
            block = before + after
            return self._parse_block(block), (), None, block.count("\n") + 1
        template, changes = self._parse_shape(before + after, key, f'{before}{key} = "{value}"{after}')
        return template, changes, _VARIABLES[key], before.count("\n") + after.count("\n") + 1

    def _parse_shape(self, text: str, key: str, block: str) -> tuple[RuleTemplate, Changes]:
        """Return the template for a text without its variable, of which the block is one, and its other free values."""
        if not _LINES.fullmatch(text) or not text.replace("\n", "").isprintable():
            raise ValueError(text)
        free: dict[str, object] = {}

        def take(found: re.Match[str]) -> str:
            name = _FREE_FIELDS[found["key"]] if found["key"] else "priority"
            if name in free:
                raise ValueError(name)
            free[name] = int(found["priority"]) if name == "priority" else found["text"]
            return ""

        rest = _FREE_LINE.sub(take, text) + "\0".join(free), key
        template = self._templates.get(rest)
        if template is None:
            template = self._templates[rest] = self._parse_block(block)
        changes = ((FIELDS.index(name), value or None if name in _OPTIONAL else value) for name, value in free.items())
        return template, tuple(changes)

    def _parse_block(self, block: str) -> RuleTemplate:
        return RuleTemplate(self._parse(tomllib.loads(block), self._line))


class _Variable:
    """A key whose value may differ between tables, and the field of the rule that gets it.

    `are_simple` returns whether each line is a value that is valid and needs no other treatment than the others.
    """

    def __init__(self, field: str, are_simple: Callable[[str], object]) -> None:
        self.position = FIELDS.index(field)
        self._are_simple = are_simple

    def find_odd(self, texts: Sequence[str]) -> Sequence[str]:
        """Return the values that are not simple."""
        if not texts or self._are_simple(_unescape("\n".join(texts))):
            return ()
        return [text for text in texts if not self._are_simple(_unescape(text))]

    def convert(self, text: str) -> object:
        """Return the value of the field."""
        return _unescape(text)


class _CommandVariable(_Variable):
    """The beginning of a command."""

    def __init__(self) -> None:
        super().__init__("command", _PREFIXES.fullmatch)

    def convert(self, text: str) -> object:
        return tuple(text.split(" "))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\")  # the text contains no NUL


def _are_simple_regexes(lines: str) -> bool:
    return are_surely_valid_regexes(lines) and "\n\\" not in f"\n{lines}" and '": "' not in lines


def _are_simple_globs(lines: str) -> bool:
    return are_surely_valid_globs(lines) and not _RELATIVE_PART.search(lines)


_VARIABLES: dict[str, _Variable] = {
    "commandPrefix": _CommandVariable(),
    "command": _CommandVariable(),
    "commandRegex": _Variable("command_pattern", _are_simple_regexes),
    "argsPattern": _Variable("arguments", _are_simple_regexes),
    "arguments": _Variable("arguments", _are_simple_regexes),
    "path": _Variable("path", _are_simple_globs),
}
