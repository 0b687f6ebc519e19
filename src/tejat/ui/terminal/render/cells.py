"""Text as a terminal has it: one grapheme to a cell, each as wide as it is."""

from collections.abc import Iterable

from wcwidth import iter_graphemes, wcswidth

from tejat.core.frozen import frozen


@frozen
class Cell:
    """A grapheme. `style` is one of prompt_toolkit's; the text has been made safe before."""

    text: str
    width: int
    style: str = ""


CellRow = list[Cell]


@frozen
class Frame:
    """Rows, none wider than was asked for, and the column and row of the caret, None where there is none."""

    rows: tuple[CellRow, ...]
    caret: tuple[int, int] | None = None


def text_width(text: str) -> int:
    """Columns that a safe text takes."""
    return len(text) if text.isascii() else max(wcswidth(text), 0)


def split_cells(text: str, style: str = "") -> CellRow:
    """A safe text without line ends, grapheme by grapheme. What takes no column joins the cell before it."""
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
    """The text for a terminal that has nothing else, as wide as it is."""
    if text.isascii():
        return text
    return "".join(each if each.isascii() else "?" * text_width(each) for each in iter_graphemes(text))


def row_width(row: Iterable[Cell]) -> int:
    return sum(cell.width for cell in row)


def truncate_row(row: CellRow, width: int, mark: str) -> CellRow:
    """The row in at most so many columns; one that is longer ends with the mark."""
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
