"""Delivery of events to listeners."""

import pytest

from tejat.engine.sessions.event_bus import EventBus


def test_listeners_are_called_in_order_until_they_unsubscribe() -> None:
    bus = EventBus[int]()
    log: list[tuple[str, int]] = []
    unsubscribe = bus.subscribe(lambda event: log.append(("first", event)))
    bus.subscribe(lambda event: log.append(("second", event)))
    bus.emit(1)
    unsubscribe()
    unsubscribe()
    bus.emit(2)
    assert log == [("first", 1), ("second", 1), ("second", 2)]


def test_the_same_listener_can_subscribe_twice() -> None:
    bus = EventBus[int]()
    log: list[int] = []
    unsubscribe, _ = bus.subscribe(log.append), bus.subscribe(log.append)
    bus.emit(1)
    unsubscribe()
    bus.emit(2)
    assert log == [1, 1, 2]


def test_the_first_error_is_raised_after_all_were_called() -> None:
    bus = EventBus[str]()
    log: list[str] = []
    errors = [ValueError("one"), ValueError("two")]

    def fail_with(error: ValueError) -> None:
        bus.subscribe(lambda _: (_ for _ in ()).throw(error))

    for error in errors:
        fail_with(error)
    bus.subscribe(log.append)
    with pytest.raises(ValueError, match="one"):
        bus.emit("event")
    assert log == ["event"]
