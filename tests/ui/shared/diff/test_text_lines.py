"""Diffs as text."""

from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, build_diff_rows
from tejat.ui.shared.diff.text_lines import diff_text_lines


def test_what_nobody_would_see_is_spelled_out() -> None:
    rows = build_diff_rows("@@ -1,2 +1,2 @@\n-same\n-\x1b[2J\n+same  \t\n+b \n")
    assert diff_text_lines(rows) == [
        "1 - same",
        "2 - <U+001B>[2J",
        "1 + same<U+0020 x 2><U+0009>",
        "2 + b<U+0020>",
    ]
    clipped = DiffRow(DiffRowKind.ADDED, "abc", None, 1, hidden=7)
    assert diff_text_lines([clipped]) == ["1 + abc [7 more characters]"]
