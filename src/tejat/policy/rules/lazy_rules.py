"""The rules of a large file, which are made when they are first needed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Protocol, overload

from tejat.policy.types import PolicyRule

FIELDS: tuple[str, ...] = PolicyRule.__match_args__
_SOURCE = FIELDS.index("source")
Changes = tuple[tuple[int, object], ...]
"""The values of fields, by their positions."""


class Variable(Protocol):
    """A field whose value differs between tables that are otherwise alike."""

    @property
    def position(self) -> int: ...
    def convert(self, text: str, /) -> object:
        """Return the value of the field."""
        ...


class RuleTemplate:
    """The rules of a table, for others like it."""

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self._values = [[getattr(rule, name) for name in FIELDS] for rule in rules]

    def make_rules(self, source: str, changes: Changes, variable: Variable | None, text: str) -> Iterator[PolicyRule]:
        """Yield the rules with another source and other values."""
        for values in self._values:
            changed = values.copy()
            changed[_SOURCE] = source
            for position, value in changes:
                changed[position] = value
            if variable is not None:
                changed[variable.position] = variable.convert(text)
            yield PolicyRule(*changed)


TableText = tuple[str, str, str, str]
"""The text of a table: the lines before the variable one, its key, its value, and the lines after it."""
Shape = tuple[str, str, str]
"""The text of a table without the value."""
shape_of: Callable[[TableText], Shape] = itemgetter(0, 1, 3)
TableKind = tuple[RuleTemplate, Changes, Variable | None, int]
"""The template for the rules of tables with the same shape, what they change in it, and how many lines they have."""


class RuleSequence(Sequence[PolicyRule], ABC):
    """Rules that are made when one of them is needed."""

    @cached_property
    def representatives(self) -> tuple[PolicyRule, ...]:
        """One rule of each kind. Others differ from one of them in source, priority, texts, command or pattern only.

        Which of these conditions a rule has does not differ, nor for which tools, modes and agents it counts.
        """
        return tuple(self._find_representatives())

    @cached_property
    def table_count(self) -> int:
        """About how many rules there are: a table that stands for several counts as one."""
        return self._count_tables()

    @abstractmethod
    def _find_representatives(self) -> Iterator[PolicyRule]: ...
    @abstractmethod
    def _count_tables(self) -> int: ...
    @abstractmethod
    def _make_rules(self) -> Iterator[PolicyRule]: ...

    @cached_property
    def _rules(self) -> tuple[PolicyRule, ...]:
        return tuple(self._make_rules())

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


class LazyRules(RuleSequence):
    """The rules of a file, whose first table is in this line."""

    def __init__(self, file: str, line: int, tables: Sequence[TableText], kinds: Mapping[Shape, TableKind]) -> None:
        self._file = file
        self._line = line
        self._tables = tables
        self._kinds = kinds

    def _find_representatives(self) -> Iterator[PolicyRule]:
        templates = {id(template): template for template, _, _, _ in self._kinds.values()}
        for template in templates.values():
            yield from template.rules

    def _count_tables(self) -> int:
        return len(self._tables)

    def _make_rules(self) -> Iterator[PolicyRule]:
        line = self._line
        for before, key, text, after in self._tables:
            template, changes, variable, lines = self._kinds[before, key, after]
            yield from template.make_rules(f"{self._file}:{line}", changes, variable, text)
            line += lines
