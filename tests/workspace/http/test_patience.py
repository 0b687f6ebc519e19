"""How much longer one request may take."""

import pytest

from tejat.workspace.http.patience import Patience
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpProblem


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def patience(clock: Clock, limits: HttpLimits) -> Patience:
    return Patience(limits, where="a.test:80", clock=clock)


class TestUntil:
    def test_a_wait_ends_after_its_own_limit(self, clock: Clock) -> None:
        assert patience(clock, HttpLimits(whole=50)).until(10) == 110

    def test_or_with_the_whole_time(self, clock: Clock) -> None:
        limited = patience(clock, HttpLimits(whole=50))
        clock.now = 145
        assert limited.until(10) == 150
        assert limited.until(None) == 150

    def test_or_never(self, clock: Clock) -> None:
        assert patience(clock, HttpLimits(whole=None)).until(None) is None
        assert patience(clock, HttpLimits(whole=None)).until(10) == 110


class TestCheck:
    def test_nothing_is_said_before_the_time(self, clock: Clock) -> None:
        patience(clock, HttpLimits(whole=50)).check(100.5, HttpProblem.TIMED_OUT_IDLE)

    @pytest.mark.parametrize(
        ("problem", "words"),
        [
            (HttpProblem.TIMED_OUT_CONNECT, "No connection to a.test:80 within 1.5 s."),
            (HttpProblem.TIMED_OUT_FIRST_BYTE, "a.test:80 did not begin to answer within 2 s."),
            (HttpProblem.TIMED_OUT_IDLE, "Nothing came from or went to a.test:80 for 3 s."),
        ],
    )
    def test_the_limit_that_passed_is_named(self, clock: Clock, problem: HttpProblem, words: str) -> None:
        limited = patience(clock, HttpLimits(connect=1.5, first_byte=2, idle=3, whole=50))
        clock.now = 110
        with pytest.raises(HttpFailure) as caught:
            limited.check(110, problem)
        assert (caught.value.problem, str(caught.value)) == (problem, words)

    def test_the_whole_time_comes_first(self, clock: Clock) -> None:
        limited = patience(clock, HttpLimits(whole=50))
        clock.now = 150
        with pytest.raises(HttpFailure) as caught:
            limited.check(150, HttpProblem.TIMED_OUT_IDLE)
        assert caught.value.problem is HttpProblem.TIMED_OUT_WHOLE
        assert str(caught.value) == "a.test:80 did not finish its answer within 50 s."
