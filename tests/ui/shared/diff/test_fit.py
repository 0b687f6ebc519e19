"""A diff that is too long loses context first, then its middle."""

from difflib import unified_diff

import hypothesis.strategies as st
from hypothesis import given

from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, build_diff_rows, count_changes, gap_label

ADDED, REMOVED, CONTEXT, GAP, FILE = (
    DiffRowKind.ADDED,
    DiffRowKind.REMOVED,
    DiffRowKind.CONTEXT,
    DiffRowKind.GAP,
    DiffRowKind.FILE,
)


def rows_of(old: list[str], new: list[str]) -> tuple[DiffRow, ...]:
    diff = "".join(unified_diff([f"{line}\n" for line in old], [f"{line}\n" for line in new]))
    return build_diff_rows(diff, with_files=False)


def shown(rows: tuple[DiffRow, ...]) -> list[str]:
    return [gap_label(row) if row.kind is GAP else row.text for row in rows]


def test_context_goes_first() -> None:
    old = list("abcdefghi")
    rows = rows_of(old, [*"abcd", "E", *"fghi"])
    assert shown(fit_rows(rows, 8)) == ["b", "c", "d", "e", "E", "f", "g", "h"]
    assert shown(fit_rows(rows, 7)) == ["c", "d", "e", "E", "f", "g"]
    assert shown(fit_rows(rows, 5)) == ["d", "e", "E", "f"]
    assert shown(fit_rows(rows, 2)) == ["e", "E"]


def test_then_the_beginning_and_the_end_stay() -> None:
    rows = rows_of([], [str(number) for number in range(100)])
    assert shown(fit_rows(rows, 6)) == ["0", "1", "2", "95 more lines (+95 -0)", "98", "99"]
    assert shown(fit_rows(rows, 2)) == ["0", "99 more lines (+99 -0)"]
    assert shown(fit_rows(rows, 1)) == ["100 more lines (+100 -0)"]
    assert fit_rows(rows, 0) == ()


def test_the_last_lines_are_under_the_name_of_their_file() -> None:
    diff = "".join(
        f"--- {name}\n+++ {name}\n@@ -0,0 +1,20 @@\n" + "".join(f"+{name} {number}\n" for number in range(20))
        for name in ("one", "two", "three")
    )
    fitted = fit_rows(build_diff_rows(diff), 8)
    assert shown(fitted) == [
        "one",
        "one 0",
        "one 1",
        "one 2",
        "55 more lines (+55 -0)",
        "three",
        "three 18",
        "three 19",
    ]


def test_rows_may_take_several_rows_on_the_screen() -> None:
    rows = tuple(DiffRow(ADDED, str(number), None, number) for number in range(10))
    fitted = fit_rows(rows, 7, height=lambda row: 1 if row.kind is GAP else 2)
    assert shown(fitted) == ["0", "1", "7 more lines (+7 -0)", "9"]


LINES = st.lists(st.sampled_from("abc"), max_size=40)


@given(LINES, LINES, st.integers(1, 30), st.integers(1, 3))
def test_fitted_rows_fit_and_hide_no_change_unsaid(old: list[str], new: list[str], room: int, tall: int) -> None:
    rows = rows_of(old, new)

    def height(row: DiffRow) -> int:
        return tall if row.is_change else 1

    fitted = fit_rows(rows, room, height=height)
    assert sum(map(height, fitted)) <= room
    assert count_changes(fitted) == count_changes(rows)
    assert sum(row.kind is GAP and bool(row.added or row.removed) for row in fitted) <= 1
