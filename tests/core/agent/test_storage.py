"""The storage in memory."""

from tejat.core.agent.storage import MemoryStorage, SessionStorage


def test_lines_are_kept_in_order_and_sessions_by_their_last_use() -> None:
    storage = MemoryStorage()
    assert isinstance(storage, SessionStorage)
    assert (storage.session_ids(), storage.read("a")) == ((), ())
    storage.append("a", ["1", "2"])
    storage.append("b", ["3"])
    assert storage.session_ids() == ("a", "b")
    storage.append("a", ["4"])
    assert storage.session_ids() == ("b", "a")
    assert (storage.read("a"), storage.read("b")) == (("1", "2", "4"), ("3",))
