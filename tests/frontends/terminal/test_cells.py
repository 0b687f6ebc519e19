"""Graphemes and their widths."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.frontends.terminal.cells import Cell, cells_of, columns, cut, width_of


def test_a_grapheme_is_one_cell() -> None:
    assert cells_of("a日👩‍👩‍👧e\u0301", "bold") == [
        Cell("a", 1, "bold"),
        Cell("日", 2, "bold"),
        Cell("👩‍👩‍👧", 2, "bold"),
        Cell("e\u0301", 1, "bold"),
    ]


def test_what_takes_no_column_joins_the_cell_before_it() -> None:
    assert cells_of("x\u200d") == [Cell("x\u200d", 1)]


def test_cutting_marks_what_is_left_out() -> None:
    assert cut(cells_of("abc"), 3, "…") == cells_of("abc")
    assert cut(cells_of("abcd"), 3, "…") == cells_of("ab…")
    assert cut(cells_of("日本語"), 4, "…") == cells_of("日…")
    assert cut(cells_of("ab"), 1, "…") == cells_of("…")
    assert cut(cells_of("ab"), 0, "…") == []


@given(st.text(alphabet=st.sampled_from("ab 日本é👍🏽\u200d👩👧ไท\u0e31"), max_size=30), st.integers(0, 20))
def test_a_cut_row_fits(text: str, width: int) -> None:
    row = cells_of(text)
    assert "".join(cell.text for cell in row) == text
    assert columns(cut(row, width, "…")) <= max(width, 0)
    assert width_of(text) <= 2 * len(text)
