"""Unified diffs are parsed into hunks."""

from support.diff_samples import TWO_FILES
from tejat.ui.shared.diff.hunks import DiffHunk, HunkRanges, parse_hunks, strip_file_header


def test_hunks_have_names_headings_and_counts() -> None:
    hunks = parse_hunks(TWO_FILES)
    assert hunks == (
        DiffHunk(("--- a/one", "+++ b/one"), "@@ -1,3 +1,3 @@ def f", (" context", "-old", "+new", " end")),
        DiffHunk((), "@@ -10 +10,2 @@", ("--- a comment", "+++ plus", "+more", "\\ No newline at end of file")),
        DiffHunk(("--- a/two", "+++ b/two"), "@@ -1 +0,0 @@", ("-gone",)),
    )
    assert [(hunk.added, hunk.removed) for hunk in hunks] == [(1, 1), (2, 1), (0, 1)]
    assert parse_hunks("Binary files a and b differ\n") == (DiffHunk(("Binary files a and b differ",), "", ()),)
    assert parse_hunks("") == (DiffHunk(("",), "", ()),)


def test_the_header_of_a_file_is_stripped() -> None:
    hunk = ["@@ -1,1 +1,1 @@", "-a", "+b"]
    header = ["Index: a.txt", "=" * 67, "--- a.txt", "+++ a.txt"]
    assert strip_file_header("\n".join([*header, *hunk, ""])) == hunk
    assert strip_file_header("\n".join(hunk)) == hunk


def test_lines_after_a_missing_newline_belong_to_the_hunk() -> None:
    marker = "\\ No newline at end of file"
    (hunk,) = parse_hunks(f"@@ -1 +1,2 @@\n-a\n{marker}\n+b\n+c\n{marker}\n")
    assert hunk.lines == ("-a", marker, "+b", "+c", marker)


def test_a_side_without_lines_begins_after_the_line_that_it_names() -> None:
    assert parse_hunks("@@ -0,0 +1,2 @@\n+a\n+b\n")[0].ranges == HunkRanges(1, 1, 1, 3)
    assert parse_hunks("@@ -3,2 +2,0 @@ def f():\n-a\n-b\n")[0].ranges == HunkRanges(3, 5, 3, 3, "def f():")
    assert DiffHunk((), "@@ odd @@", ()).ranges is None
