"""Tables fit the width they are given, side by side or told in lines."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.render.tables import ColumnAlignment, TableRow, measure_columns, render_table
from tejat.ui.terminal.render.text_wrap import NO_STYLE, line_width
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme

PLAIN = Theme()


def row(*cells: str) -> TableRow:
    return [[(cell, NO_STYLE)] for cell in cells]


def shown(
    headings: TableRow, rows: Sequence[TableRow], width: int, theme: Theme = PLAIN, **options: object
) -> list[str]:
    lines = render_table(headings, rows, theme, width, **options)  # pyright: ignore[reportArgumentType]
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_columns_are_as_wide_as_their_words() -> None:
    rows = [row("read", "道具", "1"), row("写真", "b", "1,000")]
    alignments = (ColumnAlignment.LEFT, ColumnAlignment.CENTRE, ColumnAlignment.RIGHT)
    assert shown(row("name", "what", "n"), rows, 40, alignments=alignments) == [
        "name │ what │     n",
        "─────┼──────┼──────",
        "read │ 道具 │     1",
        "写真 │  b   │ 1,000",
    ]


def test_without_headings_there_are_no_rules() -> None:
    assert shown([], [row("/help", "what there is"), row("/q", "end")], 40) == ["/help  what there is", "/q     end"]


def test_cells_wrap_where_the_columns_must_shrink() -> None:
    rows = [row("one two three", "https://example.com/a/long/path")]
    assert shown(row("a", "b"), rows, 32, Theme(glyphs=ASCII_GLYPHS)) == [
        "a     | b",
        "------+-------------------------",
        "one   | https://example.com/a/lo",
        "two   | ng/path",
        "three |",
    ]


def test_where_columns_have_no_room_rows_are_told_in_lines() -> None:
    rows = [row("one", "", "long description here"), row("two", "2", "short")]
    assert shown(row("first", "second", "third"), rows, 14) == [
        "first: one",
        "third: long",
        "  description",
        "  here",
        "───",
        "first: two",
        "second: 2",
        "third: short",
    ]
    assert shown([], [row("/command", "explanation", "etcetera")], 14) == ["/command", "  explanation", "  etcetera"]


def test_parts_of_a_table_stand_under_each_other() -> None:
    headings, first, rest = row("a", "b"), [row("long one", "x")], [row("y", "z")]
    sizes = measure_columns([headings, *first])
    assert [
        *shown(headings, first, 40, sizes=sizes),
        *shown(headings, rest, 40, sizes=sizes, is_continuation=True),
    ] == ["a        │ b", "─────────┼──", "long one │ x", "y        │ z"]


cells = st.lists(st.sampled_from(["a", "bcde", "漢", "👩\u200d👧", "e\u0301", "م", " "]), max_size=20).map("".join)


@given(st.integers(1, 5).flatmap(lambda count: st.lists(st.tuples(*[cells] * count), min_size=1, max_size=4)))
def test_no_line_is_too_wide_and_no_word_is_lost(table: list[tuple[str, ...]]) -> None:
    headings, *rows = [row(*cells) for cells in table]
    for width in (12, 40, 80):
        lines = list(render_table(headings, rows, PLAIN, width))
        assert all(line_width(line) <= width for line in lines)
        letters = "".join(text for line in lines for text, _ in line)
        assert all(letters.count("漢") >= "".join(cells).count("漢") for cells in table[1:])
