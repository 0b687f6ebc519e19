"""Relations between the weights on which the search relies."""

from itertools import pairwise

from tejat.tools.edit import weights
from tejat.tools.edit.match.alignment import MAX_ELIDED_LINES


def test_more_serious_differences_cost_more() -> None:
    typo = weights.TYPO_COST + weights.CHARACTER_COST
    costs = [
        weights.TRAILING_COST,
        weights.SPACING_COST,
        weights.INDENT_COST,
        weights.SPACING_COST + weights.INDENT_COST,
        weights.ESCAPED_COST,
        weights.CUT_COST,
        weights.ELIDED_END_COST,
        typo,
        weights.WORD_COST,
        weights.OTHER_COST,
        weights.MISSING_COST,
    ]
    assert all(cheap < expensive for cheap, expensive in pairwise(costs))


def test_a_different_word_costs_more_than_two_typos() -> None:
    assert weights.WORD_COST > 2 * (weights.TYPO_COST + weights.CHARACTER_COST)


def test_a_different_line_is_cheaper_than_a_missing_and_an_extra_one() -> None:
    assert weights.OTHER_COST < weights.MISSING_COST + weights.EXTRA_COST


def test_an_elision_in_the_file_is_preferred_to_elided_lines() -> None:
    assert weights.ELISION_PREFIX_COST < weights.ELISION_COST


def test_the_longest_elision_costs_less_than_a_cut_line() -> None:
    assert MAX_ELIDED_LINES * weights.ELIDED_LINE_COST < weights.CUT_COST


def test_margins_grow_with_the_difference() -> None:
    margins = [weights.SLIGHT_MARGIN, weights.CHARACTER_MARGIN, weights.TYPO_MARGIN, weights.CLEAR_MARGIN]
    assert all(narrow < wide for narrow, wide in pairwise([*margins, weights.WIDE_MARGIN]))


def test_one_differing_character_decides_between_two_places() -> None:
    assert weights.CHARACTER_MARGIN <= weights.CHARACTER_COST


def test_a_repair_pays_off_with_a_blank_line() -> None:
    assert weights.REPAIR_PENALTY < weights.BLANK_COST
