"""Cursor through the prompt history."""

from collections.abc import Sequence


class HistoryCursor:
    """Visits the entries that start with the text typed so far."""

    def __init__(self) -> None:
        self._index: int | None = None
        self._prefix = ""

    def reset(self) -> None:
        """Forget the position, because the text was changed."""
        self._index = None

    def step(self, entries: Sequence[str], text: str, step: int) -> str | None:
        """Return the text after this many steps, the typed text after the newest entry; None for no change."""
        index = len(entries) if self._index is None else min(self._index, len(entries))
        prefix = text if self._index is None else self._prefix
        reached = index
        for _ in range(abs(step)):
            reached = _find_match(entries, reached, prefix, 1 if step > 0 else -1)
        if reached == index:
            return None
        self._index, self._prefix = reached, prefix
        return prefix if reached == len(entries) else entries[reached]


def _find_match(entries: Sequence[str], at: int, prefix: str, step: int) -> int:
    """Return the next matching index; the end if none follows, the same if none precedes."""
    places = range(at + step, len(entries) if step > 0 else -1, step)
    found = (place for place in places if entries[place].startswith(prefix))
    return next(found, len(entries) if step > 0 else at)
