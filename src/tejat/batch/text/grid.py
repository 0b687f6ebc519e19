"""Tables in the columns of a terminal."""

from collections.abc import Collection, Sequence

from tejat.batch.text.columns import cut_end, cut_middle, one_line, pad_end, pad_start
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.core.ui.report import Tone
from tejat.ui.terminal.render.cells import text_width

_GAP = "  "


def grid_rows(
    heading: Sequence[str],
    rows: Sequence[Sequence[str]],
    style: TerminalStyle,
    width: int,
    *,
    numeric: Collection[int] = (),
    tones: Sequence[Tone] = (),
    name_column: int = 0,
    optional: Sequence[int] = (),
) -> list[str]:
    """Rows under a heading, each in at most `width` columns.

    Columns in `numeric` are aligned to the right. The column with the names gives way to the others down to a third of
    the width, and the last one gets what is left. Columns in `optional` are left out, in this order, if the others do
    not fit. A tone colours the first cell of its row.
    """
    cells = [[style.encodable(one_line(cell)) for cell in row] for row in (heading, *rows)]
    kept = _kept_columns(cells, width, optional, name_column)
    cells = [[row[column] for column in kept] for row in cells]
    numeric = [number for number, column in enumerate(kept) if column in numeric]
    name_column = kept.index(name_column)
    widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
    rest = sum(widths[column] for column in range(len(widths) - 1) if column != name_column)
    room = max(width - rest - len(_GAP) * (len(widths) - 1), 0)
    least = room if name_column == len(widths) - 1 else max(room - widths[-1], width // 3)
    widths[name_column] = min(widths[name_column], least)
    lines: list[str] = []
    for number, row in enumerate(cells):
        line = _line(row, widths, style, numeric, name_column)
        line = cut_end(line.rstrip(), width, style.signs.cut)
        tone = Tone.STRONG if number == 0 else (tones[number - 1] if tones else Tone.PLAIN)
        lines.append(_paint_first(line, row[0], tone, style, whole=number == 0))
    return lines


def _kept_columns(cells: Sequence[Sequence[str]], width: int, optional: Sequence[int], name_column: int) -> list[int]:
    widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
    widths[name_column] = min(widths[name_column], width // 3)
    kept, dropped = list(range(len(widths))), list(optional)
    while dropped and sum(widths[column] + len(_GAP) for column in kept) - len(_GAP) > width:
        kept.remove(dropped.pop(0))
    return kept


def _line(
    row: Sequence[str], widths: Sequence[int], style: TerminalStyle, numeric: Collection[int], name_column: int
) -> str:
    padded: list[str] = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        shown = cut_middle(cell, width, style.signs.cut) if column == name_column else cell
        padded.append(pad_start(shown, width) if column in numeric else pad_end(shown, width))
    return _GAP.join(padded)


def _paint_first(line: str, first: str, tone: Tone, style: TerminalStyle, *, whole: bool) -> str:
    if whole:
        return style.paint(line, tone)
    return style.paint(first, tone) + line[len(first) :] if line.startswith(first) else line
