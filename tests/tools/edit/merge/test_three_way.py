"""Three-way merges of the text that was given, the file and the new text."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.merge.three_way import three_way_merge


def merged(old: str, text: str, new: str) -> str:
    block, target, alignment = best_alignment(old, text)
    lines = list(target.lines)
    for edit in reversed(three_way_merge(block, new.split("\n"), target, alignment)):
        lines[edit.start : edit.end] = edit.lines
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("old", "text", "new", "after"),
    [
        pytest.param("a = 1\nb = 2", "a = 1\nb = 2", "a = 1\nb = 3", "a = 1\nb = 3", id="the file is as given"),
        pytest.param("one()\ntwo()", "    one()\n    two()", "one()\nnew()", "    one()\n    new()", id="indented"),
        pytest.param(
            "one()\ntwo()", "one()  # note\ntwo()", "one()\nnew()", "one()  # note\nnew()", id="cut line stays"
        ),
        pytest.param(
            "alpha()\nbravo()", "alpha()\n\nbravo()", "alpha()\nbravo(1)", "alpha()\n\nbravo(1)", id="blank line stays"
        ),
        pytest.param(
            "alpha()\nbravo()", "alpha()\nbravo()", "alpha()\nnew()\nbravo()", "alpha()\nnew()\nbravo()", id="insert"
        ),
        pytest.param(
            "alpha()\nbravo()\ncharlie()",
            "alpha()\nbravo()\ncharlie()",
            "alpha()\ncharlie()",
            "alpha()\ncharlie()",
            id="delete",
        ),
        pytest.param(
            "alpha(“x”)\nbravo()",
            'alpha("x")\nbravo()',
            "alpha(“y”)\nbravo()",
            'alpha("y")\nbravo()',
            id="typographic quotes",
        ),
    ],
)
def test_what_the_change_leaves_alone_stays(old: str, text: str, new: str, after: str) -> None:
    assert merged(old, text, new) == after


def test_no_edits_where_the_file_is_as_wanted() -> None:
    block, target, alignment = best_alignment("one()\n  two()", "one()\ntwo()")
    assert three_way_merge(block, ["one()", "  two()"], target, alignment) == []


@pytest.mark.parametrize(
    ("old", "text", "new", "line", "reason"),
    [
        pytest.param(
            "alpha()\nbravo()\ncharlie()\ndelta()",
            "alpha()\nbravo()\nextra_line = 1\ncharlie()\ndelta()",
            "alpha()\nnew()\ndelta()",
            2,
            "stands amid the lines to be replaced",
            id="a line amid those that are replaced",
        ),
        pytest.param(
            '"alpha": 1,\n"bravo": 2',
            '"alpha": 1\n"bravo": 2',
            '"alpha": 1,\n"new": 3,\n"bravo": 2',
            0,
            "lacks the comma",
            id="a missing comma",
        ),
    ],
)
def test_conflicts(old: str, text: str, new: str, line: int, reason: str) -> None:
    with pytest.raises(MergeConflict, match=reason) as raised:
        merged(old, text, new)
    assert raised.value.line == line
