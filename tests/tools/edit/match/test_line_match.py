"""Kinds of line matches."""

import pytest

from tejat.tools.edit.match.line_match import IMPOSSIBLE, MISSING, OTHER, SAME, Match, MatchKind


@pytest.mark.parametrize(
    ("kind", "is_exact", "is_known"),
    [
        (MatchKind.SAME, True, True),
        (MatchKind.MARGIN, True, True),
        (MatchKind.SPACING, True, True),
        (MatchKind.ESCAPED, False, True),
        (MatchKind.ELISION, False, True),
        (MatchKind.CUT, False, True),
        (MatchKind.TYPO, False, True),
        (MatchKind.WORD, False, True),
        (MatchKind.OTHER, False, False),
        (MatchKind.MISSING, False, False),
    ],
)
def test_exact_and_known_kinds(kind: MatchKind, is_exact: bool, is_known: bool) -> None:
    match = Match(kind, 1)
    assert (match.is_exact, match.is_known) == (is_exact, is_known)


def test_the_usual_matches_are_in_the_order_of_their_costs() -> None:
    assert SAME.cost < OTHER.cost < MISSING.cost < IMPOSSIBLE.cost
