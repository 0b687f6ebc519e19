"""How often one host is asked."""

from tejat.workspace.fetch.pace import Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_ten_a_minute_for_each_host() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    assert [pace.allows("a") for _ in range(12)] == [True] * 10 + [False] * 2
    assert pace.allows("b")
    clock.now += 59.9
    assert not pace.allows("a")
    clock.now += 0.1
    assert [pace.allows("a") for _ in range(11)] == [True] * 10 + [False]


def test_hosts_of_long_ago_are_forgotten() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    for number in range(50):
        pace.allows(str(number))
    clock.now += 61
    pace.allows("x")
    assert list(pace._asked) == ["x"]
