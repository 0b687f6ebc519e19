"""Costs of matching a line with another, where they depend on the lines around it."""

import pytest

from support.edit_alignment import indexed
from tejat.tools.edit.match.cost_matrix import CostMatrix
from tejat.tools.edit.match.line_match import IMPOSSIBLE, OTHER, SAME, MatchKind
from tejat.tools.edit.match.search_block import SearchBlock


def test_white_space_within_a_line_matters_only_where_it_tells_lines_apart() -> None:
    spaced, plain, between = "a = f( x )\n", "a = f(x)\n", "another line\n" * 20
    costs = CostMatrix(SearchBlock.from_text(plain), indexed(f"{spaced}{plain}{between}{spaced}"))
    assert [costs.match(0, at).kind for at in (0, 1, 22, 0)] == [
        MatchKind.OTHER,
        MatchKind.SAME,
        MatchKind.SPACING,
        MatchKind.OTHER,
    ]


def test_a_blank_line_matches_only_a_blank_line() -> None:
    costs = CostMatrix(SearchBlock(["", "a = 1"]), indexed("a = 1\n\n"))
    assert [costs.match(index, at) for index in (0, 1) for at in (0, 1)] == [IMPOSSIBLE, SAME, SAME, IMPOSSIBLE]


def test_a_definition_of_another_existing_name_is_another_line() -> None:
    costs = CostMatrix(SearchBlock(["def load_data(self):"]), indexed("def load_date(self):\nload_data()\n"))
    assert costs.match(0, 0) == OTHER
    assert CostMatrix(SearchBlock(["def load_data(self):"]), indexed("def load_date(self):\n")).match(0, 0) != OTHER


def test_an_elision_matches_a_line_that_begins_like_it() -> None:
    costs = CostMatrix(SearchBlock(["# ... more of it"]), indexed("# ... more of it\nother()\n"))
    assert [costs.match(0, at) for at in (0, 1)] == [SAME, IMPOSSIBLE]


@pytest.mark.parametrize(("line", "cost"), [("a = 1", 80), ("", 3), ("...", 9)])
def test_missing_lines(line: str, cost: float) -> None:
    assert CostMatrix(SearchBlock([line]), indexed("x\n")).missing_cost(0) == cost


def test_extra_lines() -> None:
    costs = CostMatrix(SearchBlock(["a"]), indexed("x\n\n"))
    assert costs.extra_costs(0, 2) == [40, 3]


def test_elided_lines_belong_to_the_block_of_the_elision() -> None:
    target = indexed("def run():\n    one()\n\nother()\n")
    costs = CostMatrix(SearchBlock(["def run():", "    ..."]), target).elided_costs(1, 1, 4)
    assert [cost < 1 for cost in costs] == [True, True, False]
