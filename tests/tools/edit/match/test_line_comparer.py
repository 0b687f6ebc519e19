"""Comparison of two lines: the kind and cost of their difference, and what is no typo."""

import pytest

from tejat.tools.edit.match.line_comparer import LineComparer, is_similar
from tejat.tools.edit.match.line_match import Match, MatchKind
from tejat.tools.edit.match.normalize import line_key


@pytest.mark.parametrize(
    ("given", "found", "match"),
    [
        ("    return x", "    return x", Match(MatchKind.SAME, 0)),
        ("    return x", "    return x  ", Match(MatchKind.MARGIN, 1)),
        ("return x", "    return x", Match(MatchKind.MARGIN, 4)),
        ("f( a )", "f(a)", Match(MatchKind.SPACING, 3)),
        ("say(“hi”)", 'say("hi")', Match(MatchKind.SPACING, 3)),
        ('say(\\"hi\\")', 'say("hi")', Match(MatchKind.ESCAPED, 8)),
        ("a &lt; b", "a < b", Match(MatchKind.ESCAPED, 8)),
        ("retrun value", "return value", Match(MatchKind.TYPO, 22)),
        ("rturn value", "return value", Match(MatchKind.TYPO, 22)),
        ("total = compute(items)", "total = calculate(items)", Match(MatchKind.WORD, 47)),
        ("# a comment that goes on...", "# a comment that goes on and on", Match(MatchKind.ELIDED_END, 20)),
        ("timeout = 30", "timeout = 60", None),
        ("def get_first(self):", "def set_second(self):", None),
        ("something", "else entirely", None),
        ("", "x", None),
    ],
)
def test_the_cost(given: str, found: str, match: Match | None) -> None:
    assert LineComparer(given, line_key(given)).compare(found, line_key(found)) == match


@pytest.mark.parametrize(
    ("given", "is_first", "is_last", "match"),
    [
        ("compute(items)", True, False, Match(MatchKind.CUT, 14)),
        ("total = comp", False, True, Match(MatchKind.CUT, 14)),
        ("= compute", True, True, Match(MatchKind.CUT, 14)),
        ("total = comp", True, False, None),
        ("compute(items)", False, False, None),
    ],
)
def test_a_line_cut_short(given: str, is_first: bool, is_last: bool, match: Match | None) -> None:
    found = "total = compute(items)"
    comparer = LineComparer(given, line_key(given), is_first=is_first, is_last=is_last)
    assert comparer.compare(found, line_key(found)) == match


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


@pytest.mark.parametrize(
    ("given", "found"),
    [("retrun value", "return value"), ("rturn value", "return value"), ("total(itemss, az)", "total(items, a)")],
)
def test_the_cheap_check_misses_no_typo(given: str, found: str) -> None:
    comparer = LineComparer(given, line_key(given))
    match = comparer.compare(found, line_key(found))
    assert match is not None
    assert match.kind is MatchKind.TYPO
    assert comparer.may_be_typo(line_key(found))


def test_other_words_are_no_typo() -> None:
    assert not LineComparer("total = compute(items)", "total=compute(items)").may_be_typo("total=collect(items)")
