"""A walk through what was typed before, from what is being typed now and back to it."""

from collections.abc import Sequence


class Recall:
    """Visits only the entries that begin as the text did when the walk began."""

    def __init__(self) -> None:
        self._at: int | None = None
        self._beginning = ""

    def end(self) -> None:
        """The text was changed: the next step begins a new walk."""
        self._at = None

    def step(self, entries: Sequence[str], text: str, step: int) -> str | None:
        """What to show after so many steps, the text of the beginning after the newest entry; None to leave all."""
        at = len(entries) if self._at is None else min(self._at, len(entries))
        beginning = text if self._at is None else self._beginning
        reached = at
        for _ in range(abs(step)):
            reached = _next(entries, reached, beginning, 1 if step > 0 else -1)
        if reached == at:
            return None
        self._at, self._beginning = reached, beginning
        return beginning if reached == len(entries) else entries[reached]


def _next(entries: Sequence[str], at: int, beginning: str, step: int) -> int:
    """The next place that begins so; the end where there is none below, and the same where there is none above."""
    place = at + step
    while 0 <= place < len(entries):
        if entries[place].startswith(beginning):
            return place
        place += step
    return at if place < 0 else len(entries)
