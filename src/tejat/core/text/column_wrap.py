"""Wrapping of text by columns, without losing a character."""

from collections.abc import Callable, Iterable


def wrap_columns(
    graphemes: Iterable[tuple[str, int]],
    *,
    width: int,
    measure: Callable[[str], int],
    first: str = "",
    rest: str = "",
    at_blanks: bool = False,
) -> list[str]:
    """Wrap graphemes with their widths at `width` columns. Rows begin with `first` and `rest`.

    `measure` returns the columns of a text. `at_blanks` breaks after a blank if there is one in the second half of the
    row.
    """
    rows, row, columns = list[str](), first, measure(first)
    begins = len(first)
    for grapheme, wide in graphemes:
        if columns + wide > width and len(row) > begins:
            blank = row.rfind(" ", len(row) // 2) + 1 if at_blanks and grapheme != " " else 0
            carried = row[blank:] if blank > begins else ""
            rows.append(row[: len(row) - len(carried)])
            row, begins = rest + carried, len(rest)
            columns = measure(row)
        is_first = len(row) == begins
        row += grapheme
        # A mark at the beginning of a text combines with what the row begins with.
        columns = max(columns + wide, measure(row) if is_first else 0)
    return [*rows, row]
