"""The shared limit: requests are never closer than the rate allows, whoever sends them."""

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tejat.models.rate_limits.shared_limit import SharedRateLimit, Turn
from tejat.models.rate_limits.state_file import RateStateFile
from tejat.workspace.threads.stop import StopToken

STOP = StopToken()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limits(
    directory: Path, clock: Clock, *, count: int = 2, rate: float | None = 60, service: str = "gemini"
) -> list[SharedRateLimit]:
    """Limits as several processes have them."""
    path = str(directory / "rates.json")
    return [SharedRateLimit(RateStateFile(path), service, rate, clock=clock) for _ in range(count)]


def test_turns_are_spaced_evenly(tmp_path: Path) -> None:
    clock = Clock()
    one, two = limits(tmp_path, clock)
    assert one.take_turn(STOP) == Turn(0.0, is_granted=True)
    assert two.take_turn(STOP) == Turn(1.0, is_granted=True)
    assert one.take_turn(STOP) == Turn(2.0, is_granted=True)
    clock.now += 60
    assert two.take_turn(STOP) == Turn(0.0, is_granted=True)
    assert one.take_turn(STOP) == Turn(1.0, is_granted=True)


def test_only_near_turns_are_reserved(tmp_path: Path) -> None:
    """Reserved turns of killed processes pass unused."""
    clock = Clock()
    many = limits(tmp_path, clock, count=100)
    turns = [limit.take_turn(STOP) for limit in many]
    assert [turn.wait for turn in turns if turn.is_granted] == [0.0, 1.0, 2.0]
    assert all(1.0 <= turn.wait <= 2.0 for turn in turns if not turn.is_granted)
    clock.now += 3
    assert many[0].take_turn(STOP) == Turn(0.0, is_granted=True)


def test_a_slow_rate_reserves_the_next_turn(tmp_path: Path) -> None:
    one, two, three = limits(tmp_path, Clock(), count=3, rate=1)
    assert one.take_turn(STOP) == Turn(0.0, is_granted=True)
    assert two.take_turn(STOP) == Turn(60.0, is_granted=True)
    later = three.take_turn(STOP)
    assert not later.is_granted
    assert 60.0 <= later.wait <= 90.0


def test_services_do_not_share(tmp_path: Path) -> None:
    clock = Clock()
    (gemini,), (openai,) = limits(tmp_path, clock, count=1), limits(tmp_path, clock, count=1, service="openai")
    gemini.block(30, STOP)
    assert openai.take_turn(STOP) == Turn(0.0, is_granted=True)
    assert gemini.take_turn(STOP).is_blocked


def test_a_block_is_for_all(tmp_path: Path) -> None:
    clock = Clock()
    one, two = limits(tmp_path, clock, rate=None)
    assert [one.take_turn(STOP), two.take_turn(STOP)] == [Turn(0.0, is_granted=True)] * 2
    one.block(30, STOP)
    one.block(5, STOP)
    assert two.is_blocked(STOP)
    assert two.take_turn(STOP) == Turn(30.0, is_granted=False, is_blocked=True)
    clock.now += 30
    assert not two.is_blocked(STOP)
    assert two.take_turn(STOP) == Turn(0.0, is_granted=True)


def test_after_a_block_the_rate_holds(tmp_path: Path) -> None:
    clock = Clock()
    one, two = limits(tmp_path, clock)
    one.block(10, STOP)
    clock.now += 10
    assert [one.take_turn(STOP).wait, two.take_turn(STOP).wait] == [0.0, 1.0]


def test_a_block_ends_after_ten_minutes(tmp_path: Path) -> None:
    clock = Clock()
    one, two = limits(tmp_path, clock)
    one.block(86_400, STOP)
    assert two.take_turn(STOP).wait == 600.0


def test_a_state_from_the_future_is_void(tmp_path: Path) -> None:
    """The clock restarts with the machine, and not every system has an id of the boot."""
    clock = Clock()
    one, two = limits(tmp_path, clock)
    one.block(100, STOP)
    clock.now = 5.0
    assert two.take_turn(STOP) == Turn(0.0, is_granted=True)
    assert one.take_turn(STOP) == Turn(1.0, is_granted=True)


def test_without_a_usable_file_the_limit_is_for_this_process(tmp_path: Path) -> None:
    clock = Clock()
    one, two = limits(tmp_path / "missing", clock)
    assert "No such file" in one.find_problem(STOP)
    assert [one.take_turn(STOP).wait, one.take_turn(STOP).wait, two.take_turn(STOP).wait] == [0.0, 1.0, 0.0]
    assert limits(tmp_path, clock)[0].find_problem(STOP) == ""


@given(
    rate=st.sampled_from([1.0, 30.0, 60.0, 600.0, 7.0]),
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 5), st.sampled_from(["take", "take", "take", "block"])), max_size=40
    ),
)
def test_no_window_has_more_requests_than_the_rate_allows(rate: float, steps: list[tuple[int, float, str]]) -> None:
    clock, granted = Clock(), list[float]()
    with tempfile.TemporaryDirectory() as directory:
        processes = limits(Path(directory), clock, count=4, rate=rate)
        for process, pause, action in steps:
            clock.now += pause
            if action == "block":
                processes[process].block(pause, STOP)
                continue
            turn = processes[process].take_turn(STOP)
            if turn.is_granted:
                granted.append(clock.now + turn.wait)
            else:
                assert turn.wait > 0
    granted.sort()
    closest = min((after - before for before, after in pairwise(granted)), default=60 / rate)
    assert closest >= 60 / rate - 1e-5
