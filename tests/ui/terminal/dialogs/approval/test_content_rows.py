"""Windows into long content, and excerpts of long diffs."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import UNICODE
from tejat.ui.shared.diff.rows import build_diff_rows
from tejat.ui.terminal.dialogs.approval.content_rows import ContentLine, ContentRows, TextLine, VisibleRows


def added(count: int) -> str:
    return f"@@ -0,0 +1,{count} @@\n" + "".join(f"+line {number}\n" for number in range(1, count + 1))


def plain(shown: VisibleRows) -> list[str]:
    return [row.plain.rstrip() for row in shown.rows]


TEXT = [TextLine("first"), TextLine("x" * 25, prefix="$ "), TextLine("")]
MIXED: list[ContentLine] = [*TEXT, *build_diff_rows(added(3)), TextLine("last")]


class TestWindows:
    def test_text_is_wrapped_and_diff_rows_follow(self) -> None:
        content = ContentRows(MIXED, UNICODE)
        assert content.count(20) == 8
        assert plain(content.window(20, 0, 8)) == [
            "first",
            f"$ {'x' * 18}",
            f"↪ {'x' * 7}",
            "",
            "1 +line 1",
            "2 +line 2",
            "3 +line 3",
            "last",
        ]
        assert not content.is_diff
        assert content.change_count == 3

    @pytest.mark.parametrize(
        ("first", "count", "changes"),
        [(0, 8, {0, 1, 2}), (0, 4, set[int]()), (0, 5, {0}), (5, 2, {1, 2}), (5, 0, set[int]()), (7, 1, set[int]())],
    )
    def test_which_changed_lines_are_visible(self, first: int, count: int, changes: set[int]) -> None:
        assert ContentRows(MIXED, UNICODE).window(20, first, count).changes == changes

    def test_a_wrapped_line_counts_where_it_ends(self) -> None:
        content = ContentRows(build_diff_rows(f"@@ -0,0 +1,1 @@\n+{'x' * 40}\n"), UNICODE)
        assert content.count(20) == 3
        assert [content.window(20, first, 1).changes for first in range(3)] == [set(), set(), {0}]

    def test_nothing(self) -> None:
        content = ContentRows([], UNICODE)
        assert content.count(80) == 0
        assert content.window(80, 0, 0) == VisibleRows(())
        assert not content.is_diff

    def test_where_a_changed_line_begins(self) -> None:
        content = ContentRows(MIXED, UNICODE)
        assert [content.row_of_change(number, width=20) for number in range(3)] == [4, 5, 6]
        assert content.row_of_change(0, width=80) == 3

    @given(
        st.lists(st.text("ab 日\t", max_size=40), max_size=8), st.integers(3, 50), st.integers(0, 9), st.integers(0, 9)
    )
    @settings(max_examples=100)
    def test_every_window_is_a_part_of_the_whole(self, texts: list[str], width: int, first: int, count: int) -> None:
        content = ContentRows([TextLine(text, prefix="> ") for text in texts], UNICODE)
        whole = plain(content.window(width, 0, content.count(width)))
        assert len(whole) == content.count(width)
        assert plain(content.window(width, first, count)) == whole[first : first + count]


class TestExcerpts:
    def test_both_ends(self) -> None:
        content = ContentRows(build_diff_rows(added(100)), UNICODE)
        assert content.is_diff
        shown = content.fit(80, 7)
        assert plain(shown) == [
            "  1 + line 1",
            "  2 + line 2",
            "  3 + line 3",
            "  … 94 more lines (+94 -0)",
            " 98 + line 98",
            " 99 + line 99",
            "100 + line 100",
        ]
        assert shown.changes == {0, 1, 2, 97, 98, 99}

    def test_context_goes_first(self) -> None:
        diff = "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n"
        content = ContentRows(build_diff_rows(diff), UNICODE)
        assert [content.count_trimmed(80, context=context) for context in (3, 1, 0)] == [8, 4, 2]
        for height in range(2, 9):
            shown = content.fit(80, height)
            assert len(shown.rows) <= height
            assert shown.changes == {0, 1}

    @given(st.integers(1, 60), st.integers(12, 60), st.integers(1, 40))
    @settings(max_examples=60)
    def test_any_height_fits(self, count: int, width: int, height: int) -> None:
        shown = ContentRows(build_diff_rows(added(count)), UNICODE).fit(width, height)
        assert len(shown.rows) <= height
        if count <= height:
            assert shown.changes == set(range(count))

    def test_a_huge_diff_takes_no_time(self) -> None:
        rows = build_diff_rows(added(50_000))
        started = time.process_time()
        content = ContentRows(rows, UNICODE, file_name="a.py")
        content.fit(80, 10)
        content.window(80, 49_000, 20)
        assert time.process_time() - started < 5
