"""Old and new lines paired by their words."""

import pytest

from tejat.tools.edit.merge.similar_lines import pair_similar_lines


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        pytest.param(["a = f(x)"], ["a = f(y)"], [(0, 0)], id="one changed line"),
        pytest.param(["a = f(x)"], ["completely different text"], [], id="a replaced line"),
        pytest.param(["a = 1", "b = 2"], ["new = 3", "b = 4"], [(1, 1)], id="only similar lines are paired"),
        pytest.param(["one two", "three four"], ["three four five", "one two six"], [(1, 0)], id="pairs do not cross"),
        pytest.param(["first(a)"], ["inserted now", "first(b)"], [(0, 1)], id="a line before it"),
        pytest.param([], ["a"], [], id="nothing to pair"),
    ],
)
def test_pairs(old: list[str], new: list[str], pairs: list[tuple[int, int]]) -> None:
    assert pair_similar_lines(old, new) == pairs


def test_very_many_lines_are_not_paired() -> None:
    assert pair_similar_lines(["same"] * 51, ["same"] * 50) == []
