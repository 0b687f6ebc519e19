"""What a difference between two lines costs, and what is no slip."""

import pytest

from tejat.tools.edit.match.line_cost import (
    CUT,
    ELIDED,
    ESCAPED,
    INDENTATION,
    PER_CHARACTER,
    SLIP,
    SPACING,
    TRAILING,
    WORD,
    LineComparer,
    is_similar,
)
from tejat.tools.edit.match.normalize import normalize_line


@pytest.mark.parametrize(
    ("given", "found", "cost"),
    [
        ("    return x", "    return x", 0),
        ("    return x", "    return x  ", TRAILING),
        ("return x", "    return x", INDENTATION),
        ("f( a )", "f(a)", SPACING),
        ("say(“hi”)", 'say("hi")', SPACING),
        ('say(\\"hi\\")', 'say("hi")', ESCAPED),
        ("a &lt; b", "a < b", ESCAPED),
        ("retrun value", "return value", SLIP + PER_CHARACTER),
        ("rturn value", "return value", SLIP + PER_CHARACTER),
        ("total = compute(items)", "total = calculate(items)", WORD),
        ("# a comment that goes on...", "# a comment that goes on and on", ELIDED),
        ("timeout = 30", "timeout = 60", None),
        ("def get_first(self):", "def set_second(self):", None),
        ("something", "else entirely", None),
        ("", "x", None),
    ],
)
def test_the_cost(given: str, found: str, cost: int | None) -> None:
    assert LineComparer(given, normalize_line(given)).cost(found, normalize_line(found)) == cost


@pytest.mark.parametrize(
    ("given", "is_first", "is_last", "cost"),
    [
        ("compute(items)", True, False, CUT),
        ("total = comp", False, True, CUT),
        ("= compute", True, True, CUT),
        ("total = comp", True, False, None),
        ("compute(items)", False, False, None),
    ],
)
def test_a_line_cut_short(given: str, is_first: bool, is_last: bool, cost: int | None) -> None:
    found = "total = compute(items)"
    assert (
        LineComparer(given, normalize_line(given), is_first=is_first, is_last=is_last).cost(
            found, normalize_line(found)
        )
        == cost
    )


@pytest.mark.parametrize(
    ("given", "found", "near"),
    [
        ("retrun value", "return value", True),
        ("f(a, b)", "f(a, c)", False),
        ("x = 1", "x = 2", False),
        ("is_enabled", "is_disabled", False),
        ("run(it", "run(it)", True),
    ],
)
def test_what_may_be_overwritten(given: str, found: str, near: bool) -> None:
    assert is_similar(given, found) is near
