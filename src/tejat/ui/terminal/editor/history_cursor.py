"""A walk through what was typed before, from what is being typed now and back to it."""

from collections.abc import Sequence


class HistoryCursor:
    """Visits only the entries that begin as the text did when the walk began."""

    def __init__(self) -> None:
        self._index: int | None = None
        self._prefix = ""

    def reset(self) -> None:
        """The text was changed: the next step begins a new walk."""
        self._index = None

    def step(self, entries: Sequence[str], text: str, step: int) -> str | None:
        """What to show after so many steps, the text of the beginning after the newest entry; None to leave all."""
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
    """The next place that begins so; the end where there is none below, and the same where there is none above."""
    place = at + step
    while 0 <= place < len(entries):
        if entries[place].startswith(prefix):
            return place
        place += step
    return at if place < 0 else len(entries)
