"""Diffs line by line."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.approval.confirmation import EditConfirmation
from tejat.ui.shared.approval.display_lines import DisplayLineKind
from tejat.ui.shared.approval.edit_diff import count_changed_lines, diff_lines, full_file_lines, is_new_file

PATCH = (
    "Index: a\n====\n--- a\tCurrent\n+++ a\tProposed\n"
    "@@ -2,3 +2,3 @@\n two\n-three\n+THREE  \t\n four\n"
    "@@ -8,1 +8,1 @@\n-eight\n+8\n\\ No newline at end of file\n"
)
OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def change(patch: str, old: str | None = OLD, new: str | None = "x") -> EditConfirmation:
    return EditConfirmation("T", "a", "/w/a", patch, old, new)


def test_the_hunks_alone() -> None:
    assert [(line.kind, line.text) for line in diff_lines(change(PATCH))] == [
        (DisplayLineKind.HUNK, "@@ -2,3 +2,3 @@"),
        (DisplayLineKind.CONTEXT, " two"),
        (DisplayLineKind.REMOVED, "-three"),
        (DisplayLineKind.ADDED, "+THREE<U+0020 x 2><U+0009>"),
        (DisplayLineKind.CONTEXT, " four"),
        (DisplayLineKind.HUNK, "@@ -8,1 +8,1 @@"),
        (DisplayLineKind.REMOVED, "-eight"),
        (DisplayLineKind.ADDED, "+8"),
        (DisplayLineKind.CONTEXT, "\\ No newline at end of file"),
    ]


def test_the_whole_file_with_the_hunks_in_their_places() -> None:
    assert [line.text for line in full_file_lines(change(PATCH))] == [
        " one",
        " two",
        "-three",
        "+THREE<U+0020 x 2><U+0009>",
        " four",
        " five",
        " six",
        " seven",
        "-eight",
        "+8",
        "\\ No newline at end of file",
        " nine",
    ]


@pytest.mark.parametrize(("patch", "old"), [(PATCH, None), ("[The diff is too large to show]\n", OLD)])
def test_no_whole_file_where_it_is_not_known(patch: str, old: str | None) -> None:
    assert full_file_lines(change(patch, old)) == []


@pytest.mark.parametrize(
    ("patch", "old", "new", "is_new"),
    [
        ("@@ -0,0 +1,1 @@\n+a\n", None, None, True),
        ("@@ -0,0 +1,1 @@\n+a\n", "", "a", False),
        ("@@ -1,1 +1,1 @@\n-b\n+a\n", None, None, False),
        ("[too large]", None, "a", True),
        ("[too large]", None, None, False),
    ],
)
def test_whether_the_file_is_new(patch: str, old: str | None, new: str | None, is_new: bool) -> None:
    assert is_new_file(change(patch, old, new)) == is_new


LINES = st.lists(st.sampled_from(["a", "b", "", "@@ -1 +1 @@", "+x", "-y", "Index: z"]), max_size=12)


@given(LINES, LINES)
@settings(max_examples=200)
def test_the_whole_file_is_the_old_and_the_new_one(before: list[str], after: list[str]) -> None:
    """For any two texts: without what is added it is the old one, without what is removed the new one."""
    hunks = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    confirmation = change("\n".join(["Index: a", "===", "--- a", "+++ a", *hunks]), "".join(f"{x}\n" for x in before))
    lines = full_file_lines(confirmation)
    if not hunks:
        return
    assert [line.text[1:] for line in lines if line.kind is not DisplayLineKind.ADDED] == before
    assert [line.text[1:] for line in lines if line.kind is not DisplayLineKind.REMOVED] == after
    assert count_changed_lines(confirmation) == (
        sum(line.kind is DisplayLineKind.ADDED for line in lines),
        sum(line.kind is DisplayLineKind.REMOVED for line in lines),
    )
