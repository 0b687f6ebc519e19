"""Results that were shown in part and can be expanded."""

from typing import Generic, TypeVar

Item = TypeVar("Item")

_MAX_RESULTS = 100


class CollapsedResults(Generic[Item]):
    """The most recent collapsed results. Each is expanded once, newest first."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._next = -1

    def add(self, item: Item) -> None:
        self._items = [*self._items[1 - _MAX_RESULTS :], item]
        self._next = len(self._items) - 1

    def next_older(self) -> Item | None:
        """Return the newest result that was not expanded yet, None if there is none."""
        if self._next < 0:
            return None
        self._next -= 1
        return self._items[self._next + 1]
