"""The distance between words is the least number of single-character changes and swaps."""

import pytest

from tejat.core.text.edit_distance import edit_distance


@pytest.mark.parametrize(
    ("left", "right", "changes"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("", "ab", 2),
        ("glob", "glob", 0),
        ("grep", "glob", 3),
        ("kitten", "sitting", 3),
        ("hepl", "help", 1),
        ("ab", "ba", 1),
    ],
)
def test_distance(left: str, right: str, changes: int) -> None:
    assert edit_distance(left, right) == edit_distance(right, left) == changes
