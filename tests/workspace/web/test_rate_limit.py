"""How often one host is asked."""

from tejat.workspace.web.rate_limit import RateLimiter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_ten_a_minute_for_each_host() -> None:
    clock = Clock()
    pace = RateLimiter(clock=clock)
    assert [pace.try_acquire("a") for _ in range(12)] == [True] * 10 + [False] * 2
    assert pace.try_acquire("b")
    clock.now += 59.9
    assert not pace.try_acquire("a")
    clock.now += 0.1
    assert [pace.try_acquire("a") for _ in range(11)] == [True] * 10 + [False]


def test_hosts_of_long_ago_are_forgotten() -> None:
    clock = Clock()
    pace = RateLimiter(clock=clock)
    for number in range(50):
        pace.try_acquire(str(number))
    clock.now += 61
    pace.try_acquire("x")
    assert list(pace._requests) == ["x"]
