"""Tables: aligned, within the width, without the columns that do not fit."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.text.grid import grid_rows
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.ui.terminal.render.cells import text_width

PLAIN = TerminalStyle(None)


def test_columns_are_aligned() -> None:
    rows = [("django-1", "12 s", "check failed"), ("日本", "1 min 5 s", "no changes")]
    assert grid_rows(("TASK", "TIME", "RESULT"), rows, PLAIN, 40, numeric=(1,)) == [
        "TASK           TIME  RESULT",
        "django-1       12 s  check failed",
        "日本      1 min 5 s  no changes",
    ]


def test_optional_columns_are_left_out_in_order() -> None:
    rows = [("task-1", "$0.02", "12 s", "check failed")]
    heading = ("TASK", "COST", "TIME", "RESULT")
    assert grid_rows(heading, rows, PLAIN, 28, optional=(1, 2)) == [
        "TASK    TIME  RESULT",
        "task-1  12 s  check failed",
    ]


def test_long_names_are_cut_in_the_middle() -> None:
    rows = [("a" * 50 + "-end", "1")]
    assert grid_rows(("TASK", "N"), rows, PLAIN, 20)[1].split()[0].endswith("-end")


@given(
    st.lists(st.tuples(st.text(max_size=50), st.text(max_size=12), st.text(max_size=50)), min_size=1, max_size=5),
    st.integers(10, 100),
)
def test_rows_fit(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = grid_rows(("NAME", "N", "REST"), rows, PLAIN, width, numeric=(1,), optional=(1,))
    assert len(lines) == len(rows) + 1
    assert all(text_width(line) <= width for line in lines)
