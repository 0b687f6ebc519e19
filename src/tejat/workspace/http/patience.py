"""How much longer one request may take."""

from collections.abc import Callable

from tejat.core.words import phrase
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpProblem


class Patience:
    """The limits of one request, counted from now on by the clock of the event loop."""

    def __init__(self, limits: HttpLimits, *, where: str, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._where = where
        self._clock = clock
        self._end = None if limits.whole is None else clock() + limits.whole

    def until(self, seconds: float | None) -> float | None:
        """When a wait of at most so many seconds that begins now has to end."""
        ends = [end for end in (None if seconds is None else self._clock() + seconds, self._end) if end is not None]
        return min(ends, default=None)

    def check(self, until: float | None, problem: HttpProblem) -> None:
        """Raises HttpFailure with TIMED_OUT_WHOLE when the whole time is over, with `problem` when `until` is."""
        now = self._clock()
        if self._end is not None and now >= self._end:
            raise self.failure(HttpProblem.TIMED_OUT_WHOLE)
        if until is not None and now >= until:
            raise self.failure(problem)

    def failure(self, problem: HttpProblem) -> HttpFailure:
        limits, where = self.limits, self._where
        match problem:
            case HttpProblem.TIMED_OUT_CONNECT:
                words = phrase("No connection to {where} within {seconds:g} s.", where=where, seconds=limits.connect)
            case HttpProblem.TIMED_OUT_FIRST_BYTE:
                words = phrase(
                    "{where} did not begin to answer within {seconds:g} s.", where=where, seconds=limits.first_byte
                )
            case HttpProblem.TIMED_OUT_IDLE:
                words = phrase(
                    "Nothing came from or went to {where} for {seconds:g} s.", where=where, seconds=limits.idle
                )
            case _:
                words = phrase(
                    "{where} did not finish its answer within {seconds:g} s.", where=where, seconds=limits.whole
                )
        return HttpFailure(words, problem)
