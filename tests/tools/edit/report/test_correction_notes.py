"""Notes about differences that were overlooked."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.report.correction_notes import describe_corrections


@pytest.mark.parametrize(
    ("old", "text", "kinds"),
    [
        ("alpha()\nbravo()", "alpha()\nbravo()\n", None),
        ("alpha()\nbravo()", "  alpha()\n  bravo()\n", "indentation"),
        ("alpha() \nbravo()", "alpha()\nbravo()\n", "white space at line ends"),
        ("alpha( )\nbravo()", "alpha()\nbravo()\n", "spacing or look-alike characters"),
        ("alpha()\n\nbravo()", "alpha()\nbravo()\n", "blank lines"),
        ("alpha_one()\nbravo()", "alhpa_one()\nbravo()\n", "a slip in `alpha_one()`"),
        ("alpha()\n...\ndelta()", "alpha()\nb\nc\ndelta()\n", "lines left out"),
        ("alpha()\nbravo()\ncharlie()", "alpha()\nextra = 1\nbravo()\ncharlie()\n", "lines put in or taken out since"),
        ("alpha()\nbravo()\ncharlie(x", "alpha()\nbravo()\ncharlie(x, y)\n", "a line cut short"),
    ],
)
def test_one_clause_for_each_kind(old: str, text: str, kinds: str | None) -> None:
    block, target, alignment = best_alignment(old, text)
    assert describe_corrections(block, target, [alignment]) == (() if kinds is None else (f"overlooked: {kinds}",))
