"""Selection of what is shown of very many items."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

MAX_RESULT_CHARACTERS = 100_000
"""Characters of a list that a model is given."""
MAX_RESULT_PATHS = 10_000

_Item = TypeVar("_Item", str, tuple[float, str], tuple[str, str])


class FirstItems(Generic[_Item]):
    """The smallest items of any number, and how many there are in all.

    Only about twice the limit of them are kept. With `is_distinct`, equal items count once; then all are remembered.
    """

    def __init__(self, limit: int, *, is_distinct: bool = False) -> None:
        self.count = 0
        self._limit = limit
        self._kept: list[_Item] = []
        self._last: _Item | None = None
        self._seen: set[_Item] | None = set[_Item]() if is_distinct else None

    def add(self, items: Iterable[_Item]) -> None:
        if self._seen is not None:
            items = set(items) - self._seen
            self._seen |= items
        new = list(items)
        self.count += len(new)
        last = self._last
        self._kept += new if last is None else [item for item in new if item < last]
        if len(self._kept) > 2 * self._limit:
            self._prune()

    def sorted(self) -> list[_Item]:
        """Return the first items in order."""
        self._prune()
        return list(self._kept)

    def _prune(self) -> None:
        self._kept.sort()
        if len(self._kept) > self._limit:
            del self._kept[self._limit :]
            self._last = self._kept[-1]


def fitting_lines(lines: Sequence[str], room: int = MAX_RESULT_CHARACTERS) -> int:
    """Count the lines that fit into this many characters, at least one."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0 and count:
            return count
    return len(lines)
