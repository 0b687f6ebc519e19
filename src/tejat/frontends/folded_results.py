"""Results that were shown in part, so that a person can ask for the whole."""

from typing import Generic, TypeVar

Kept = TypeVar("Kept")

_MOST = 100


class FoldedResults(Generic[Kept]):
    """Those that can still be opened, the newest first, each once."""

    def __init__(self) -> None:
        self._kept: list[Kept] = []
        self._next = -1

    def add(self, folded: Kept) -> None:
        self._kept = [*self._kept[1 - _MOST :], folded]
        self._next = len(self._kept) - 1

    def take(self) -> Kept | None:
        """The last one, then the one before it and so on; None where there is no other."""
        if self._next < 0:
            return None
        self._next -= 1
        return self._kept[self._next + 1]
