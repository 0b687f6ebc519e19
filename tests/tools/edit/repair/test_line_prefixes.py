"""A prefix before every line that only the file or only the request has."""

import pytest

from support.edit_alignment import best_alignment, indexed
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.repair.line_prefixes import check_prefixes, with_file_prefixes
from tejat.tools.edit.request import EditRequest


def prefixed(old: str, new: str, text: str) -> tuple[str, str] | None:
    request = with_file_prefixes(EditRequest(old, new), indexed(text))
    return None if request is None else (request.old, request.new)


@pytest.mark.parametrize(
    ("old", "new", "text", "result"),
    [
        pytest.param("one\ntwo", "one\nthree", "- one\n- two\n", ("- one\n- two", "- one\n- three"), id="a list"),
        pytest.param(
            "* one\n* two", "* one\n* new", "- one\n- two\n", ("- one\n- two", "- one\n- new"), id="other bullets"
        ),
        pytest.param("one\ntwo", "one\n\nthree", "- one\n- two\n", None, id="a blank line in the new text"),
        pytest.param("one\ngone", "one\nthree", "- one\n- two\n", None, id="a line that is not there"),
        pytest.param("f(a);\ng(b);", "f(a);", "// f(a);\n// g(b);\n", None, id="code that is commented out"),
        pytest.param("one", "two", "- one\n", None, id="one line alone"),
    ],
)
def test_the_prefix_of_the_file(old: str, new: str, text: str, result: tuple[str, str] | None) -> None:
    assert prefixed(old, new, text) == result


def test_another_prefix_throughout_is_a_conflict() -> None:
    block, target, alignment = best_alignment("one line here\nand another one", "# one line here\n# and another one\n")
    with pytest.raises(MergeConflict, match="another mark before it"):
        check_prefixes(block, target, alignment)


def test_the_same_prefix_is_none() -> None:
    check_prefixes(*best_alignment("- one line\n- another", "  - one line\n  - another\n"))
