"""How much longer one request may take."""

import pytest

from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def deadline(clock: Clock, limits: HttpLimits) -> RequestDeadline:
    return RequestDeadline(limits, where="a.test:80", clock=clock)


class TestUntil:
    def test_a_wait_ends_after_its_own_limit(self, clock: Clock) -> None:
        assert deadline(clock, HttpLimits(total=50)).until(10) == 110

    def test_or_with_the_whole_time(self, clock: Clock) -> None:
        limited = deadline(clock, HttpLimits(total=50))
        clock.now = 145
        assert limited.until(10) == 150
        assert limited.until(None) == 150

    def test_or_never(self, clock: Clock) -> None:
        assert deadline(clock, HttpLimits(total=None)).until(None) is None
        assert deadline(clock, HttpLimits(total=None)).until(10) == 110


class TestCheck:
    def test_nothing_is_said_before_the_time(self, clock: Clock) -> None:
        deadline(clock, HttpLimits(total=50)).check(100.5, HttpFailureKind.TIMED_OUT_IDLE)

    @pytest.mark.parametrize(
        ("problem", "words"),
        [
            (HttpFailureKind.TIMED_OUT_CONNECT, "Could not connect to a.test:80 within 1.5 s."),
            (HttpFailureKind.TIMED_OUT_FIRST_BYTE, "a.test:80 did not respond within 2 s."),
            (HttpFailureKind.TIMED_OUT_IDLE, "No data from or to a.test:80 for 3 s."),
        ],
    )
    def test_the_limit_that_passed_is_named(self, clock: Clock, problem: HttpFailureKind, words: str) -> None:
        limited = deadline(clock, HttpLimits(connect=1.5, first_byte=2, idle=3, total=50))
        clock.now = 110
        with pytest.raises(HttpFailure) as caught:
            limited.check(110, problem)
        assert (caught.value.kind, str(caught.value)) == (problem, words)

    def test_the_whole_time_comes_first(self, clock: Clock) -> None:
        limited = deadline(clock, HttpLimits(total=50))
        clock.now = 150
        with pytest.raises(HttpFailure) as caught:
            limited.check(150, HttpFailureKind.TIMED_OUT_IDLE)
        assert caught.value.kind is HttpFailureKind.TIMED_OUT_TOTAL
        assert str(caught.value) == "a.test:80 did not finish its response within 50 s."
