"""Comments that are remembered in other words."""

import pytest

from tejat.tools.edit.comments import Comment, is_reworded_comment, split_comment


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# Sum up the rows", Comment("", "#", "Sum up the rows")),
        ("    // Sum up the rows", Comment("", "//", "Sum up the rows")),
        (" * Sum up the rows", Comment("", "*", "Sum up the rows")),
        ("-- Sum up the rows", Comment("", "--", "Sum up the rows")),
        ('    """Sum up the rows."""', Comment("", '"""', 'Sum up the rows."""')),
        ("total = sum(rows)  # of this page", Comment("total=sum(rows)", "#", "of this page")),
        ("total = sum(rows); // of this page", Comment("total=sum(rows);", "//", "of this page")),
        ("#include <stdio.h>", None),
        ("#define SIZE 3", None),
        ("--verbose", None),
        ("* an item of a list", None),
        ("## A heading", None),
        ("total = sum(rows)", None),
        ('print("a # b c")', None),
        ("url = 'http://example.com/a b'", None),
        ("", None),
    ],
)
def test_where_a_comment_begins(line: str, expected: Comment | None) -> None:
    assert split_comment(line) == expected


@pytest.mark.parametrize(
    ("given", "found", "is_reworded"),
    [
        ("# Return the sum of all rows", "# Returns what all rows add up to", True),
        ("total = 0  # nothing was added yet", "total = 0  # nothing added so far", True),
        ("total = 1  # nothing was added yet", "total = 0  # nothing added so far", False),
        ("# Return the sum of all rows", "// Return the sum of the rows", False),
        ("# Return the sum of all rows", "# Close every file that is open", False),
        ("# Wait for 3 seconds at most", "# Wait no more than 5 seconds", False),
        ("# Wait for some seconds at most", "# Wait no more than 5 seconds", True),
        ("# Return the sum", "return the_sum", False),
        ("# one", "# two", False),
        ('# the "s', '# Remove the "s', False),
        ("# the &quot;s", '# Remove the "s', False),
    ],
)
def test_other_words(given: str, found: str, *, is_reworded: bool) -> None:
    comment = split_comment(given)
    assert comment is not None
    assert is_reworded_comment(comment, split_comment(found)) is is_reworded


@pytest.mark.parametrize(
    "line", ["# " * 10**5, "a // " * 10**5 + "'", "a // " * 399 + "'", " " * 10**5 + "*", "x" * 10**6]
)
def test_long_lines_take_no_time(line: str) -> None:
    split_comment(line)
