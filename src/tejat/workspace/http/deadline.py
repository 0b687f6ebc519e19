"""How much longer one request may take."""

from collections.abc import Callable

from tejat.core.i18n import gettext_lazy
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits


class RequestDeadline:
    """The limits of one request, counted from now on by the clock of the event loop."""

    def __init__(self, limits: HttpLimits, *, where: str, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._where = where
        self._clock = clock
        self._end = None if limits.total is None else clock() + limits.total

    def until(self, seconds: float | None) -> float | None:
        """When a wait of at most so many seconds that begins now has to end."""
        ends = [end for end in (None if seconds is None else self._clock() + seconds, self._end) if end is not None]
        return min(ends, default=None)

    def check(self, until: float | None, problem: HttpFailureKind) -> None:
        """Raises HttpFailure with TIMED_OUT_WHOLE when the whole time is over, with `problem` when `until` is."""
        now = self._clock()
        if self._end is not None and now >= self._end:
            raise self.timeout_failure(HttpFailureKind.TIMED_OUT_TOTAL)
        if until is not None and now >= until:
            raise self.timeout_failure(problem)

    def timeout_failure(self, problem: HttpFailureKind) -> HttpFailure:
        limits, where = self.limits, self._where
        match problem:
            case HttpFailureKind.TIMED_OUT_CONNECT:
                words = gettext_lazy(
                    "No connection to {where} within {seconds:g} s.", where=where, seconds=limits.connect
                )
            case HttpFailureKind.TIMED_OUT_FIRST_BYTE:
                words = gettext_lazy(
                    "{where} did not begin to answer within {seconds:g} s.", where=where, seconds=limits.first_byte
                )
            case HttpFailureKind.TIMED_OUT_IDLE:
                words = gettext_lazy(
                    "Nothing came from or went to {where} for {seconds:g} s.", where=where, seconds=limits.idle
                )
            case _:
                words = gettext_lazy(
                    "{where} did not finish its answer within {seconds:g} s.", where=where, seconds=limits.total
                )
        return HttpFailure(words, problem)
