"""Rules from several sources, of which large files are not turned into rules before that is needed."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

from tejat.policy.rules.lazy_rules import LazyRules
from tejat.policy.types import PolicyRule


class RuleList(Sequence[PolicyRule]):
    """Rules in their order."""

    def __init__(self, parts: Iterable[Sequence[PolicyRule]]) -> None:
        self._parts = tuple(parts)

    @cached_property
    def representatives(self) -> tuple[PolicyRule, ...]:
        """One rule of each kind. Others differ from one of them in source, priority, texts, command or pattern only.

        Which of these conditions a rule has does not differ, nor for which tools, modes and agents it counts.
        """
        found = (part.representatives if isinstance(part, LazyRules | RuleList) else part for part in self._parts)
        return tuple(rule for part in found for rule in part)

    @cached_property
    def table_count(self) -> int:
        """About how many rules there are: a table that stands for several counts as one."""
        return sum(part.table_count if isinstance(part, LazyRules | RuleList) else len(part) for part in self._parts)

    @cached_property
    def _rules(self) -> tuple[PolicyRule, ...]:
        return tuple(rule for part in self._parts for rule in part)

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
