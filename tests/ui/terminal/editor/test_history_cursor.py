"""A walk through entries that begin alike, there and back."""

from tejat.ui.terminal.editor.history_cursor import HistoryCursor

ENTRIES = ["fix a", "show", "fix b"]


def test_there_and_back() -> None:
    walk = HistoryCursor()
    steps = [walk.step(ENTRIES, "fix", step) for step in (1, -1, -1, -1, 1, 1, 1)]
    assert steps == [None, "fix b", "fix a", None, "fix b", "fix", None]


def test_several_steps_at_once_go_as_far_as_they_can() -> None:
    walk = HistoryCursor()
    assert [walk.step(ENTRIES, "", -9), walk.step(ENTRIES, "fix a", 9)] == ["fix a", ""]


def test_a_changed_text_begins_a_new_walk() -> None:
    walk = HistoryCursor()
    assert walk.step(ENTRIES, "", -1) == "fix b"
    walk.reset()
    assert walk.step(ENTRIES, "sh", -1) == "show"


def test_entries_may_become_fewer() -> None:
    walk = HistoryCursor()
    walk.step(ENTRIES, "", -1)
    assert walk.step([], "fix b", -1) is None
