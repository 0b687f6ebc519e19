"""Deadlines of one request."""

from collections.abc import Callable

from tejat.core.i18n import lazy
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits


class RequestDeadline:
    """The limits of one request, counted from now by the event loop's clock."""

    def __init__(self, limits: HttpLimits, *, where: str, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._where = where
        self._clock = clock
        self._end = None if limits.total is None else clock() + limits.total

    def until(self, seconds: float | None) -> float | None:
        """Return when a wait of at most this many seconds has to end."""
        ends = [end for end in (None if seconds is None else self._clock() + seconds, self._end) if end is not None]
        return min(ends, default=None)

    def check(self, until: float | None, kind: HttpFailureKind) -> None:
        """Raise HttpFailure with TIMED_OUT_TOTAL after the total time, with `kind` after `until`."""
        now = self._clock()
        if self._end is not None and now >= self._end:
            raise self.timeout_failure(HttpFailureKind.TIMED_OUT_TOTAL)
        if until is not None and now >= until:
            raise self.timeout_failure(kind)

    def timeout_failure(self, kind: HttpFailureKind) -> HttpFailure:
        where, most = self._where, self.limits
        match kind:
            case HttpFailureKind.TIMED_OUT_CONNECT:
                message = lazy("Could not connect to {where} within {seconds:g} s.", where=where, seconds=most.connect)
            case HttpFailureKind.TIMED_OUT_FIRST_BYTE:
                seconds = most.first_byte
                message = lazy("{where} did not respond within {seconds:g} s.", where=where, seconds=seconds)
            case HttpFailureKind.TIMED_OUT_IDLE:
                message = lazy("No data from or to {where} for {seconds:g} s.", where=where, seconds=most.idle)
            case _:
                seconds = most.total
                message = lazy(
                    "{where} did not finish its response within {seconds:g} s.", where=where, seconds=seconds
                )
        return HttpFailure(message, kind)
