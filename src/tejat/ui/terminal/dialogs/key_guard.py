"""Which keys count as an answer: none that were meant for something else."""

from collections.abc import Callable

GRACE_SECONDS = 0.3
"""For so long after a question appears keys do not count: they were meant for what was there before. Whoever is in the
middle of a line goes on typing before they see it, so the time begins anew with each of those keys."""


class KeyGuard:
    """Knows when a question appeared, and whether what comes is being pasted: nobody pastes a yes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._quiet_since: float | None = None
        self._is_active = False
        self._is_pasting = False

    def mark_shown(self) -> None:
        """It is on the screen, since the first time that this is said."""
        if self._quiet_since is None:
            self._quiet_since = self._clock()

    def reset(self) -> None:
        """Something else takes its place for a while."""
        self._quiet_since = None
        self._is_active = False

    def accepts(self, key: str, *, is_typing: bool) -> bool:
        """Whether the key counts. While something is typed, what is pasted does too."""
        if key in ("paste", "paste-end"):
            self._is_pasting = key == "paste"
            return False
        return self._check_active() and (is_typing or not self._is_pasting)

    def _check_active(self) -> bool:
        """Whether there was a moment without a key since it appeared."""
        if self._quiet_since is not None and not self._is_active:
            now = self._clock()
            self._is_active = now - self._quiet_since >= GRACE_SECONDS
            self._quiet_since = now
        return self._is_active
