"""Text in the columns of a terminal: on one line, cut, padded or wrapped. Wide characters count twice."""

from tejat.core.i18n import translate
from tejat.core.text.column_wrap import wrap_columns
from tejat.ui.shared.text.sanitizer import make_terminal_safe
from tejat.ui.terminal.render.cells import CellRow, row_width, split_cells, text_width, truncate_row

_MAX_CHARS = 2_000
"""Characters of a text that are considered for a line."""


def one_line(text: str) -> str:
    """A text of any origin on one line: without control sequences, hidden characters visible, white space collapsed."""
    return " ".join(make_terminal_safe(translate(text)[:_MAX_CHARS]).split())


def cut_end(text: str, width: int, mark: str = "…") -> str:
    """A safe text in at most `width` columns; a longer one ends with the mark."""
    if text_width(text) <= width:
        return text
    mark = mark if text_width(mark) <= width else ""
    return _join(truncate_row(split_cells(text), max(width, 0), mark))


def cut_middle(text: str, width: int, mark: str = "…") -> str:
    """A safe text in at most `width` columns. Of a longer one both ends stay, because ids differ at theirs."""
    left = width - text_width(mark)
    if text_width(text) <= width or left < 2:
        return cut_end(text, width, mark)
    cells = split_cells(text)
    tail = _take(cells[::-1], left - left // 3)[::-1]
    return _join(_take(cells, left - row_width(tail))) + mark + _join(tail)


def pad_end(text: str, width: int) -> str:
    """The text with blanks behind it, up to `width` columns."""
    return text + " " * (width - text_width(text))


def pad_start(text: str, width: int) -> str:
    """The text with blanks before it, up to `width` columns."""
    return " " * (width - text_width(text)) + text


def wrap_rows(text: str, width: int, *, indent: str = "", max_rows: int = 0, mark: str = "…") -> list[str]:
    """Wrap a safe text at `width` columns, further rows indented. Beyond `max_rows` the last one ends with the mark."""
    cells = ((cell.text, cell.width) for cell in split_cells(text))
    indent = indent if text_width(indent) * 2 < width else ""
    first, *more = wrap_columns(cells, width=max(width, 1), measure=text_width, rest=indent, at_blanks=True)
    rows = [first, *(indent + row.strip() for row in more)]
    if max_rows and len(rows) > max_rows:
        rows = [*rows[: max_rows - 1], cut_end(rows[max_rows - 1].rstrip(), width - text_width(mark), "") + mark]
    return [row.rstrip() for row in rows]


def _take(cells: CellRow, width: int) -> CellRow:
    """The first cells that fit."""
    taken: CellRow = []
    for cell in cells:
        width -= cell.width
        if width < 0:
            break
        taken.append(cell)
    return taken


def _join(cells: CellRow) -> str:
    return "".join(cell.text for cell in cells)
