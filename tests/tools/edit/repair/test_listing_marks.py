"""Marks that a listing puts around or before lines."""

from functools import partial

import pytest

from tejat.tools.edit.repair import listing_marks
from tejat.tools.edit.repair.listing_marks import LineTransform

_strip_spaced_numbers = partial(listing_marks.strip_numbers, number=listing_marks.SPACED_NUMBER)


@pytest.mark.parametrize(
    ("strip", "lines", "stripped"),
    [
        pytest.param(listing_marks.strip_fence, ["```py", "a", "```"], ["a", ""], id="a fence"),
        pytest.param(listing_marks.strip_fence, ["a", "```"], ["a", ""], id="a closing fence alone"),
        pytest.param(listing_marks.strip_fence, ["a", "b"], None, id="no fence"),
        pytest.param(listing_marks.strip_numbers, ["7: a", "8:   b"], [" a", "   b"], id="numbers"),
        pytest.param(_strip_spaced_numbers, ["7: a", "8:   b"], ["a", "  b"], id="spaced numbers"),
        pytest.param(
            listing_marks.strip_numbers, ["7\ta", "", "9\tb"], ["a", "", "b"], id="a blank line without its number"
        ),
        pytest.param(listing_marks.strip_numbers, ["7: a", "7: b"], None, id="numbers that do not rise"),
        pytest.param(listing_marks.strip_quote_prefixes, ["> a", ">", "> b"], ["a", "", "b"], id="quote prefixes"),
        pytest.param(listing_marks.strip_quote_prefixes, ["> a", "b"], None, id="not all lines are quoted"),
        pytest.param(listing_marks.strip_diff_signs, ["@@ -1 +1 @@", " a", "-b"], ["a", "b"], id="diff signs"),
        pytest.param(listing_marks.strip_diff_signs, [" a", " b"], None, id="a margin is no sign"),
        pytest.param(listing_marks.strip_diff_signs_or_margin, [" a", "-b", "+c"], ["a", "c"], id="deleted lines go"),
        pytest.param(listing_marks.strip_margin, [" a", "", " b"], ["a", "", "b"], id="a margin"),
        pytest.param(listing_marks.strip_bare_signs, ["a", "-b"], ["a", "b"], id="bare signs"),
        pytest.param(listing_marks.strip_added_signs, ["a", "+b"], ["a", "b"], id="added signs"),
        pytest.param(listing_marks.drop_added_lines, [" a", "+b", "-c"], ["a", "c"], id="added lines go"),
        pytest.param(listing_marks.strip_outer_quotes, ['"a', 'b"'], ["a", "b"], id="quotes around the text"),
        pytest.param(listing_marks.strip_outer_quotes, ['"a" + "b"'], None, id="quotes inside too"),
    ],
)
def test_stripped(strip: LineTransform, lines: list[str], stripped: list[str] | None) -> None:
    assert strip(lines) == stripped


@pytest.mark.parametrize(
    ("new", "old", "stripped"),
    [
        pytest.param(["7: a", "9: x"], ["7: a", "8: b"], [" a", " x"], id="numbers need not rise"),
        pytest.param(["7: a", "x"], ["7: a", "8: b"], [" a", "x"], id="an added line has none"),
        pytest.param(["a", "x"], ["7: a", "8: b"], None, id="no numbers"),
    ],
)
def test_numbers_like_those_of_the_old_lines(new: list[str], old: list[str], stripped: list[str] | None) -> None:
    assert listing_marks.strip_numbers_like(new, old) == stripped


def test_marks_that_are_left() -> None:
    assert listing_marks.has_listing_marks(["value = 1"], ["7: value = 1"])
    assert not listing_marks.has_listing_marks(["value = 1"], ["value = 1", "other"])


def test_lines_that_are_all_shifted() -> None:
    old = ["alpha", "  bravo"]
    assert listing_marks.has_shifted_right(old, ["  alpha", "    bravo"])
    assert not listing_marks.has_shifted_right(old, ["alpha", "    bravo"])
    assert listing_marks.has_shifted_left(["  alpha", "    bravo"], ["alpha", "  bravo", "new"])


def test_signs_of_a_diff() -> None:
    assert [listing_marks.has_diff_signs(text) for text in ("+a\n b", "a\n+b", " a\n-b")] == [True, False, False]


def test_an_odd_margin() -> None:
    assert [listing_marks.has_odd_margin(lines) for lines in ([" a", "   b"], ["  a"], [])] == [True, False, False]


def test_fences() -> None:
    assert listing_marks.is_fenced(["", "```", "a", "~~~"])
    assert not listing_marks.is_fenced(["```", "a"])
