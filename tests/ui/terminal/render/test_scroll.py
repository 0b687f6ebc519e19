"""Scrolling of lists and of long content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.render.scroll import ScrollPosition, first_visible


@pytest.mark.parametrize(
    ("top", "selected", "expected"),
    [(0, 0, 0), (0, 2, 0), (0, 3, 1), (4, 5, 4), (4, 3, 3), (9, 9, 7), (-2, 1, 0)],
)
def test_the_view_moves_as_little_as_possible(top: int, selected: int, expected: int) -> None:
    assert first_visible(top, selected=selected, visible=3, total=10) == expected


@given(st.integers(-5, 50), st.integers(1, 30), st.integers(1, 30), st.data())
def test_the_selected_row_is_visible(top: int, visible: int, total: int, data: st.DataObject) -> None:
    selected = data.draw(st.integers(0, total - 1))
    first = first_visible(top, selected=selected, visible=visible, total=total)
    assert 0 <= first <= selected < first + visible
    assert first <= max(0, total - visible)


def test_keys() -> None:
    position = ScrollPosition()
    position.fit(visible=4, total=10)
    seen: list[int] = []
    for key in ("down", "pagedown", "up", "pageup", "up", "end", "down", "x", "home"):
        position.press(key, page=3)
        seen.append(position.first)
    assert seen == [1, 4, 3, 0, 0, 6, 6, 6, 0]


def test_a_larger_view_shows_no_room_below_the_end() -> None:
    position = ScrollPosition()
    position.fit(visible=2, total=10)
    position.press("end", page=1)
    position.fit(visible=7, total=10)
    assert (position.first, position.can_scroll) == (3, True)
    position.fit(visible=20, total=10)
    assert (position.first, position.can_scroll) == (0, False)
