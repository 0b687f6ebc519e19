"""Rendering of the editor."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from wcwidth import iter_graphemes

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.text.sanitizer import TAB_WIDTH, escape_typed_at
from tejat.ui.terminal.render.cell_style import cell_style
from tejat.ui.terminal.render.cells import Cell, CellRow, Frame, row_width, split_cells, text_width, truncate_row
from tejat.ui.terminal.render.scroll import first_visible
from tejat.ui.terminal.render.theme import StyleRole, Theme

_INDENT = 2
_NARROW_COLUMNS = 12
"""Width below which only the text is shown."""


class EditorContent(Frozen):
    """Text, caret and selection. `label` returns the label of a paste placeholder."""

    text: str
    caret: int
    selected: Sequence[tuple[int, int]] = ()
    label: Callable[[str], str | None] = lambda _: None
    is_shell: bool = False
    placeholder: str = ""


class EditorView(Frozen):
    """The frame, and its first visible row for the next rendering."""

    frame: Frame
    top: int


class EditorRow(Frozen):
    """Cells of a row, and offset and column of each character; last of the end of the line, if it is here."""

    cells: CellRow
    stops: tuple[tuple[int, int], ...]


def render_editor(content: EditorContent, *, theme: Theme, width: int, height: int, top: int = 0) -> EditorView:
    """Render at most `height` rows around the caret. Lines break between graphemes; hidden characters are shown."""
    rows = break_rows(content, theme=theme, width=width)
    caret_row, caret_column = caret_position(rows, content.caret)
    top = first_visible(top, selected=caret_row, visible=height, total=len(rows))
    shown = rows[top : top + height]
    rows_drawn: list[CellRow] = []
    for at, row in enumerate(shown, top):
        is_edge = (at == top and top > 0) or (at == top + height - 1 and at < len(rows) - 1)
        rows_drawn.append([*_margin(at, content, theme, width, is_edge=is_edge), *row.cells])
    if not content.text and content.placeholder:
        room = width - row_width(rows_drawn[0]) - 1
        quiet = split_cells(content.placeholder, cell_style(theme, StyleRole.QUIET))
        rows_drawn[0] += truncate_row(quiet, max(room, 0), theme.glyphs.more)
    margin = row_width(_margin(caret_row, content, theme, width))
    return EditorView(Frame(tuple(rows_drawn), (margin + caret_column, caret_row - top)), top)


def break_rows(content: EditorContent, *, theme: Theme, width: int) -> list[EditorRow]:
    """Return all rows of the text, without margins."""
    first = max(width - row_width(_margin(0, content, theme, width)), 2)
    other = max(width - row_width(_margin(1, content, theme, width)), 2)
    breaker = _RowBreaker(first, other)
    plain_style, selected_style = "", cell_style(theme, StyleRole.SELECTED)
    offset = 0
    for line in content.text.split("\n"):
        index = offset - 1
        for at, text, columns_taken in _segments(line, content.label):
            index = offset + at
            style = selected_style if any(start <= index < end for start, end in content.selected) else plain_style
            breaker.add(index, text, columns_taken, style)
        offset += len(line)
        breaker.end_line(offset, is_caret=index < content.caret <= offset)
        offset += 1
    return breaker.rows


def caret_position(rows: Sequence[EditorRow], caret: int) -> tuple[int, int]:
    """Return row and column of the caret."""
    for at, row in enumerate(rows):
        for place, column in row.stops:
            if place >= caret:
                return at, column
    return len(rows) - 1, 0


def offset_at_column(row: EditorRow, column: int) -> int:
    """Return the text offset shown at this column of a row, or before it."""
    for (place, _column), (_place, after) in pairwise(row.stops):
        if column < after:
            return place
    return row.stops[-1][0]


class _RowBreaker:
    """Fills rows, of which the first is narrower because of its mark."""

    def __init__(self, first: int, other: int) -> None:
        self.rows: list[EditorRow] = []
        self._room = first
        self._other = other
        self._cells: CellRow = []
        self._stops: list[tuple[int, int]] = []
        self._used = 0

    def add(self, offset: int, text: str, width: int, style: str) -> None:
        """Add the segment at this offset. Only escaped characters and tabs may be split."""
        if text == "\t":
            text = " " * min(TAB_WIDTH - self._used % TAB_WIDTH, max(self._room - self._used, 1))
            width = len(text)
        if self._used + width > self._room and (width <= 2 or self._used >= self._room):
            self._break()
        self._stops.append((offset, self._used))
        for cell in [Cell(text, width, style)] if width <= 2 and text.strip(" ") else split_cells(text, style):
            if self._used + cell.width > self._room:
                self._break()
            self._cells.append(cell)
            self._used += cell.width

    def end_line(self, offset: int, *, is_caret: bool) -> None:
        if is_caret and self._used >= self._room:
            self._break()
        self._stops.append((offset, self._used))
        self._break()

    def _break(self) -> None:
        self.rows.append(EditorRow(self._cells, tuple(self._stops)))
        self._cells, self._stops, self._used, self._room = [], [], 0, self._other


def _margin(at: int, content: EditorContent, theme: Theme, width: int, *, is_edge: bool = False) -> CellRow:
    if width < _NARROW_COLUMNS:
        return []
    if is_edge:
        return split_cells(f"{theme.glyphs.more} ", cell_style(theme, StyleRole.QUIET))
    if at > 0:
        return split_cells(" " * _INDENT)
    if not content.is_shell:
        return split_cells(f"{theme.glyphs.prompt} ", cell_style(theme, StyleRole.PROMPT))
    mark = split_cells(f"{theme.glyphs.shell} ", cell_style(theme, StyleRole.SHELL))
    return [*mark, *split_cells("(" + _("shell") + ") ", cell_style(theme, StyleRole.QUIET))]


def _segments(line: str, label: Callable[[str], str | None]) -> Iterator[tuple[int, str, int]]:
    """Yield offset, displayed text and width of each grapheme."""
    start = 0
    for at, character in enumerate(line) if not line.isascii() else ():
        shown = label(character)
        if shown is not None:
            yield from ((start + place, text, width) for place, text, width in _graphemes(line[start:at]))
            yield at, sanitize_text(shown), text_width(sanitize_text(shown))
            start = at + 1
    yield from ((start + place, text, width) for place, text, width in _graphemes(line[start:]))


@lru_cache(512)
def _graphemes(line: str) -> Sequence[tuple[int, str, int]]:
    if line.isascii() and line.isprintable():
        return [(at, character, 1) for at, character in enumerate(line)]
    graphemes: list[tuple[int, str, int]] = []
    offset = 0
    for grapheme in iter_graphemes(line):
        text = grapheme
        if grapheme != "\t":
            text = "".join(escape_typed_at(line, offset + at) for at in range(len(grapheme)))
        # A combining mark without a base would join the previous cell.
        text = f" {text}" if text != "\t" and text_width(text[0]) == 0 else text
        graphemes.append((offset, text, text_width(text)))
        offset += len(grapheme)
    return graphemes
