"""Rules from several sources, of which large files are not turned into rules before that is needed."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.policy.rules.lazy_rules import RuleSequence
from tejat.policy.types import PolicyRule


class RuleList(RuleSequence):
    """Rules in their order."""

    def __init__(self, parts: Iterable[Sequence[PolicyRule]]) -> None:
        self._parts = tuple(parts)

    def _find_representatives(self) -> Iterator[PolicyRule]:
        for part in self._parts:
            yield from part.representatives if isinstance(part, RuleSequence) else part

    def _count_tables(self) -> int:
        return sum(part.table_count if isinstance(part, RuleSequence) else len(part) for part in self._parts)

    def _make_rules(self) -> Iterator[PolicyRule]:
        for part in self._parts:
            yield from part
