"""Tables in plain text on standard output."""

import os
import sys
from collections.abc import Collection, Sequence

from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.style import Style


def print_table(rows: Sequence[tuple[str, ...]], *, numeric: Collection[int] = ()) -> None:
    """Print rows, the first as heading, sanitized and translated. On a terminal lines are cut to its width.

    Columns in `numeric` are aligned to the right. The last column is not padded.
    """
    cleaned = [tuple(sanitize_text(translate(cell)) for cell in row) for row in rows]
    *widths, _ = (max(map(len, column)) for column in zip(*cleaned, strict=True))
    room = _columns() if sys.stdout.isatty() else 0
    style = Style(sys.stdout)
    for number, row in enumerate(cleaned):
        cells = [
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        line = "  ".join([*cells, row[-1]])
        if room and len(line) > room:
            line = line[: room - 1] + "…"
        print(style.bold(line) if number == 0 else line)


def _columns() -> int:
    """The width of the terminal, 0 if unknown."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 0
