"""Which keys count as an answer: none that were meant for something else."""

from collections.abc import Callable

SECONDS_UNHEARD = 0.3
"""For so long after a question appears keys do not count: they were meant for what was there before."""


class KeyGuard:
    """Knows when a question appeared, and whether what comes is being pasted: nobody pastes a yes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._appeared: float | None = None
        self._is_pasting = False

    def appear(self) -> None:
        """It is on the screen, since the first time that this is said."""
        if self._appeared is None:
            self._appeared = self._clock()

    def forget(self) -> None:
        """Something else takes its place for a while."""
        self._appeared = None

    def hears(self, key: str, *, is_typing: bool) -> bool:
        """Whether the key counts. While something is typed, what is pasted does too."""
        if key in ("paste", "paste-end"):
            self._is_pasting = key == "paste"
            return False
        if self._appeared is None or self._clock() - self._appeared < SECONDS_UNHEARD:
            return False
        return is_typing or not self._is_pasting
