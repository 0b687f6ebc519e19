"""Results that were shown in part, so that a person can ask for the whole."""

from typing import Generic, TypeVar

Item = TypeVar("Item")

_MAX_RESULTS = 100


class CollapsedResults(Generic[Item]):
    """Those that can still be opened, the newest first, each once."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._next = -1

    def add(self, item: Item) -> None:
        self._items = [*self._items[1 - _MAX_RESULTS :], item]
        self._next = len(self._items) - 1

    def next_older(self) -> Item | None:
        """The last one, then the one before it and so on; None where there is no other."""
        if self._next < 0:
            return None
        self._next -= 1
        return self._items[self._next + 1]
