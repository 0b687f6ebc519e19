"""Graphemes and their widths."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.render.cells import Cell, row_width, split_cells, text_width, truncate_row


def test_a_grapheme_is_one_cell() -> None:
    assert split_cells("a日👩‍👩‍👧e\u0301", "bold") == [
        Cell("a", 1, "bold"),
        Cell("日", 2, "bold"),
        Cell("👩‍👩‍👧", 2, "bold"),
        Cell("e\u0301", 1, "bold"),
    ]


def test_what_takes_no_column_joins_the_cell_before_it() -> None:
    assert split_cells("x\u200d") == [Cell("x\u200d", 1)]


def test_cutting_marks_what_is_left_out() -> None:
    assert truncate_row(split_cells("abc"), 3, "…") == split_cells("abc")
    assert truncate_row(split_cells("abcd"), 3, "…") == split_cells("ab…")
    assert truncate_row(split_cells("日本語"), 4, "…") == split_cells("日…")
    assert truncate_row(split_cells("ab"), 1, "…") == split_cells("…")
    assert truncate_row(split_cells("ab"), 0, "…") == []


@given(st.text(alphabet=st.sampled_from("ab 日本é👍🏽\u200d👩👧ไท\u0e31"), max_size=30), st.integers(0, 20))
def test_a_cut_row_fits(text: str, width: int) -> None:
    row = split_cells(text)
    assert "".join(cell.text for cell in row) == text
    assert row_width(truncate_row(row, width, "…")) <= max(width, 0)
    assert text_width(text) <= 2 * len(text)
