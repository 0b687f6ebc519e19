"""Guard against keys that were typed before a dialog appeared."""

from collections.abc import Callable

GRACE_SECONDS = 0.3
"""Time after a dialog appears in which keys do not count.

Each of those keys restarts it: the user may be in the middle of typing a line.
"""


class KeyGuard:
    """Tracks when a dialog appeared and whether input is pasted: a paste never confirms."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._quiet_since: float | None = None
        self._is_active = False
        self._is_pasting = False

    def mark_shown(self) -> None:
        """Note that the dialog is on screen; only the first call counts."""
        if self._quiet_since is None:
            self._quiet_since = self._clock()

    def reset(self) -> None:
        """Start over, because something else is shown meanwhile."""
        self._quiet_since = None
        self._is_active = False

    def accepts(self, key: str, *, is_typing: bool) -> bool:
        """Whether the key counts. Pasted characters do only while typing."""
        if key in ("paste", "paste-end"):
            self._is_pasting = key == "paste"
            return False
        return self._check_active() and (is_typing or not self._is_pasting)

    def _check_active(self) -> bool:
        """Whether there was a pause in typing since the dialog appeared."""
        if self._quiet_since is not None and not self._is_active:
            now = self._clock()
            self._is_active = now - self._quiet_since >= GRACE_SECONDS
            self._quiet_since = now
        return self._is_active
