"""Waits before another attempt, for one task and for all of them."""

from collections.abc import Callable

_FIRST_SECONDS = 5.0
_FIRST_LOSS_SECONDS = 1.0
_MAX_SECONDS = 300.0
_JITTER = 0.25
_MIN_THRESHOLD = 3

MAX_LOSSES = 3
"""How often a job may be lost before its task is given up."""


def retry_wait(failures: int, random: Callable[[], float], *, is_lost: bool = False) -> float:
    """Seconds until the next attempt: exponential, with jitter, at most five minutes. A lost job waits less."""
    first = _FIRST_LOSS_SECONDS if is_lost else _FIRST_SECONDS
    return min(_MAX_SECONDS, first * 2 ** min(failures - 1, 16) * (1 + _JITTER * random()))


class CircuitBreaker:
    """Pauses all starts while the service fails for everybody.

    It opens after transient failures of several tasks in a row, with nothing else between them. When the pause is over,
    one task at a time tries; another failure makes the next pause longer, any other outcome ends it.
    """

    def __init__(self, jobs: int, random: Callable[[], float]) -> None:
        self._threshold = max(_MIN_THRESHOLD, jobs)
        self._random = random
        self._failed: set[int] = set()
        self._pauses = 0
        self._probe: int | None = None
        self._resumes_at = 0.0

    def note_failure(self, task: int, now: float) -> float:
        """Count a transient failure. Return the seconds of the pause that it causes, 0 if none."""
        is_probe = self._probe == task
        if is_probe:
            self._probe = None
        self._failed.add(task)
        if now < self._resumes_at or not (is_probe or (self._pauses == 0 and len(self._failed) >= self._threshold)):
            return 0.0
        self._pauses += 1
        seconds = retry_wait(self._pauses, self._random)
        self._resumes_at = now + seconds
        return seconds

    def note_answer(self) -> None:
        """Count an outcome that shows that the service answers."""
        self._failed.clear()
        self._pauses = 0
        self._probe = None
        self._resumes_at = 0.0

    def note_end(self, task: int) -> None:
        """Count an outcome that says nothing about the service."""
        if self._probe == task:
            self._probe = None

    def note_start(self, task: int) -> None:
        """A task starts: after a pause it is the one that tries."""
        if self._pauses:
            self._probe = task

    def may_start(self, now: float) -> bool:
        """Whether a task may start now."""
        return self._pauses == 0 or (now >= self._resumes_at and self._probe is None)

    def wait_seconds(self, now: float) -> float | None:
        """Seconds until the pause ends, None if there is none."""
        return self._resumes_at - now if now < self._resumes_at else None
