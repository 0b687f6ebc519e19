"""The storage in memory."""

import threading

import pytest

from tejat.core.agent.storage import MemoryStorage, SessionConflict, SessionStorage


def test_lines_are_kept_in_order_and_sessions_by_their_last_use() -> None:
    storage = MemoryStorage()
    assert isinstance(storage, SessionStorage)
    assert (storage.session_ids(), storage.read("a")) == ((), ())
    storage.append("a", ["1", "2"], 0)
    storage.append("b", ["3"], 0)
    assert storage.session_ids() == ("a", "b")
    storage.append("a", ["4"], 2)
    assert storage.session_ids() == ("b", "a")
    assert (storage.read("a"), storage.read("b")) == (("1", "2", "4"), ("3",))


@pytest.mark.parametrize("position", [0, 1, 3])
def test_lines_at_another_position_are_refused(position: int) -> None:
    storage = MemoryStorage()
    storage.append("a", ["1", "2"], 0)
    with pytest.raises(SessionConflict):
        storage.append("a", ["3"], position)
    assert storage.read("a") == ("1", "2")


def test_of_several_threads_one_is_first() -> None:
    storage = MemoryStorage()
    refused: list[str] = []

    def write(name: str) -> None:
        for position in range(200):
            try:
                storage.append("a", [name], position)
            except SessionConflict:
                refused.append(name)
                return

    threads = [threading.Thread(target=write, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2
    assert len(set(storage.read("a"))) == 1
