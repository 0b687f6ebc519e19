"""Rows of a diff have numbers, marks of changed words, and gaps for what is left out."""

from difflib import unified_diff

import hypothesis.strategies as st
from hypothesis import given

from support.diff_samples import TWO_FILES
from tejat.ui.shared.diff.rows import (
    DiffRow,
    DiffRowKind,
    build_diff_rows,
    build_file_rows,
    clip_label,
    clip_rows,
    count_changes,
    gap_label,
    strip_blank_context,
    trim_context,
)

ADDED, REMOVED, CONTEXT = DiffRowKind.ADDED, DiffRowKind.REMOVED, DiffRowKind.CONTEXT
GAP, FILE, NOTE = DiffRowKind.GAP, DiffRowKind.FILE, DiffRowKind.NOTE


def diff_of(old: list[str], new: list[str], context: int = 3) -> str:
    lines = unified_diff([f"{line}\n" for line in old], [f"{line}\n" for line in new], "f", "f", n=context)
    return "".join(lines)


def test_rows_of_two_files() -> None:
    assert build_diff_rows(TWO_FILES) == (
        DiffRow(FILE, "one", added=3, removed=2),
        DiffRow(CONTEXT, "context", 1, 1),
        DiffRow(REMOVED, "old", 2),
        DiffRow(ADDED, "new", None, 2),
        DiffRow(CONTEXT, "end", 3, 3),
        DiffRow(GAP, hidden=6),
        DiffRow(REMOVED, "-- a comment", 10),
        DiffRow(ADDED, "++ plus", None, 10),
        DiffRow(ADDED, "more", None, 11),
        DiffRow(NOTE, "No newline at end of file"),
        DiffRow(FILE, "two", added=0, removed=1),
        DiffRow(REMOVED, "gone", 1),
    )


def test_changed_words_are_marked() -> None:
    removed, added = build_diff_rows("@@ -1 +1 @@\n-return price * percent\n+return price * percent / 100\n")
    assert (removed.marks, added.marks) == ((), ((23, 28),))
    removed, added = build_diff_rows("@@ -1 +1 @@\n-total = old_name(1)\n+total = new_name(1)\n")
    assert (removed.marks, added.marks) == (((8, 16),), ((8, 16),))


def test_lines_with_little_in_common_are_not_marked() -> None:
    assert [row.marks for row in build_diff_rows("@@ -1 +1 @@\n-import os\n+class Price:\n")] == [(), ()]


def test_a_line_is_paired_with_the_one_that_resembles_it() -> None:
    rows = build_diff_rows(
        '@@ -1 +1,2 @@\n-return price - off\n+"""Price after a discount."""\n+return price - off / 100\n'
    )
    assert [row.marks for row in rows] == [(), (), ((19, 24),)]


def test_without_files_only_the_hunks_remain() -> None:
    header = "Index: a.py\n" + "=" * 67 + "\n--- a.py\tCurrent\n+++ a.py\tProposed\n"
    assert build_diff_rows(f"{header}@@ -1 +1 @@\n-a\n+b\n", with_files=False) == (
        DiffRow(REMOVED, "a", 1),
        DiffRow(ADDED, "b", None, 1),
    )
    summary = f"{header}[The diff is too large to show: 3 lines removed, 4 lines added]\n"
    assert [row.kind for row in build_diff_rows(summary, with_files=False)] == [NOTE]
    assert build_diff_rows("") == ()


def test_hidden_characters_are_shown_and_harmless() -> None:
    rows = build_diff_rows("--- a\x1b[2J\n+++ a\x1b[2J\n@@ -1 +1 @@\n-\tb \r\n+b\u202e\n")
    assert [row.text for row in rows] == ["a<U+001B>[2J", "\tb <U+000D>", "b<U+202E>"]


def test_long_unchanged_stretches_become_gaps() -> None:
    old = [f"line {number}" for number in range(30)]
    new = [*old[:10], "changed", *old[11:20], "changed", *old[21:]]
    diff = diff_of(old, new, context=30)
    rows = build_diff_rows(diff)
    assert [(row.kind, row.number or row.hidden) for row in rows if row.kind is not FILE] == [
        *((CONTEXT, number) for number in (8, 9, 10)),
        (REMOVED, 11),
        (ADDED, 11),
        *((CONTEXT, number) for number in (12, 13, 14)),
        (GAP, 3),
        *((CONTEXT, number) for number in (18, 19, 20)),
        (REMOVED, 21),
        (ADDED, 21),
        *((CONTEXT, number) for number in (22, 23, 24)),
    ]
    assert [row.kind for row in trim_context(rows, 0) if row.kind is not FILE] == [REMOVED, ADDED, GAP, REMOVED, ADDED]
    assert next(row.hidden for row in trim_context(rows, 0) if row.kind is GAP) == 9


def test_labels() -> None:
    assert gap_label(DiffRow(GAP, hidden=1)) == "1 unchanged line"
    assert gap_label(DiffRow(GAP, hidden=1200)) == "1,200 unchanged lines"
    assert gap_label(DiffRow(GAP, hidden=9, added=4, removed=5)) == "9 more lines (+4 -5)"
    assert gap_label(DiffRow(GAP)) == ""


def test_clipped_rows_count_what_they_hide() -> None:
    (row,) = clip_rows([DiffRow(ADDED, "abcdefgh", None, 1, marks=((1, 2), (3, 6), (7, 8)))], 5)
    assert (row.text, row.marks, row.hidden, clip_label(row)) == ("abcde", ((1, 2), (3, 5)), 3, "3 more characters")


LINES = st.lists(st.sampled_from(["a b c", "a b d", "x", "", "\tx "]), max_size=20)


@given(LINES, LINES, st.integers(0, 4))
def test_rows_lead_from_one_text_to_the_other(old: list[str], new: list[str], context: int) -> None:
    rows = build_diff_rows(diff_of(old, new, context))
    for row in rows:
        if row.old_number is not None:
            assert old[row.old_number - 1] == row.text
        if row.new_number is not None:
            assert new[row.new_number - 1] == row.text
        assert all(0 <= start < end <= len(row.text) for start, end in row.marks)
    added, removed = count_changes(rows)
    assert len(old) + added - removed == len(new)
    assert count_changes(trim_context(rows, 0)) == (added, removed)


@given(LINES, LINES)
def test_a_whole_file_has_every_line_of_both_sides(old: list[str], new: list[str]) -> None:
    rows = build_file_rows("".join(f"{line}\n" for line in old), diff_of(old, new))
    if old == new:
        assert rows == ()
    else:
        assert [row.text for row in rows if row.old_number is not None] == old
        assert [row.text for row in rows if row.new_number is not None] == new
        assert [row.new_number for row in rows if row.new_number] == list(range(1, len(new) + 1))


def test_blank_context_at_the_ends_is_stripped() -> None:
    diff = "@@ -1,5 +1,5 @@\n \n-a\n+b\n \n c\n \n"
    rows = strip_blank_context(build_diff_rows(diff, context=None))
    assert [row.text for row in rows] == ["a", "b", "", "c"]
    assert strip_blank_context(()) == ()
