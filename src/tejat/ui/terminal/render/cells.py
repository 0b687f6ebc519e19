"""Text as terminal cells, one grapheme per cell."""

from collections.abc import Iterable

from wcwidth import iter_graphemes, wcswidth

from tejat.core.frozen import Frozen


class Cell(Frozen):
    """A sanitized grapheme. `style` is a prompt_toolkit style."""

    text: str
    width: int
    style: str = ""


CellRow = list[Cell]


class Frame(Frozen):
    """Rows within the requested width, and column and row of the caret, None if there is none."""

    rows: tuple[CellRow, ...]
    caret: tuple[int, int] | None = None


def text_width(text: str) -> int:
    """Return the columns of a sanitized text."""
    return len(text) if text.isascii() else max(wcswidth(text), 0)


def split_cells(text: str, style: str = "") -> CellRow:
    """Split a sanitized line into cells. Zero-width graphemes join the cell before them."""
    if text.isascii():
        return [Cell(character, 1, style) for character in text]
    row: CellRow = []
    for grapheme in iter_graphemes(text):
        width = max(wcswidth(grapheme), 0)
        if width == 0 and row:
            last = row.pop()
            row.append(Cell(last.text + grapheme, last.width, last.style))
        else:
            row.append(Cell(grapheme, width, style))
    return row


def to_ascii(text: str) -> str:
    """Replace characters that are not ASCII, keeping the width."""
    if text.isascii():
        return text
    return "".join(each if each.isascii() else "?" * text_width(each) for each in iter_graphemes(text))


def row_width(row: Iterable[Cell]) -> int:
    return sum(cell.width for cell in row)


def truncate_row(row: CellRow, width: int, mark: str) -> CellRow:
    """Return the row in at most `width` columns; a longer one ends with the mark."""
    if row_width(row) <= width:
        return row
    kept: CellRow = []
    left = width - text_width(mark)
    for cell in row:
        if cell.width > left:
            break
        kept.append(cell)
        left -= cell.width
    return [*kept, *split_cells(mark)] if width > 0 else []
