"""What the editor looks like: text in rows, the caret where it belongs, a mark that tells what Enter does."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from wcwidth import iter_graphemes

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.frontends.terminal.cells import Cell, Picture, Row, cells_of, columns, cut, width_of
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.part_style import part_style
from tejat.frontends.terminal.safe_text import TAB, safe

_INDENT = 2
_NARROW = 12
"""In fewer columns there is room for the text and nothing else."""
_JOINERS = "\u200c\u200d\ufe0f"


@value
class Content:
    """What is typed and how far. `label` tells what is shown for a character that stands for a paste."""

    text: str
    caret: int
    selected: Sequence[tuple[int, int]] = ()
    label: Callable[[str], str | None] = lambda _: None
    is_shell: bool = False
    placeholder: str = ""


@value
class View:
    """The picture, and the first row in view, which the next view is told."""

    picture: Picture
    top: int


@value
class TextRow:
    """A row: its cells, and the columns at which characters of the text begin, as pairs of place and column.

    The last pair is the end of the line, where it is in this row.
    """

    cells: Row
    stops: tuple[tuple[int, int], ...]


def view(content: Content, *, look: Look, width: int, height: int, top: int = 0) -> View:
    """At most `height` rows around the caret. The text is broken between graphemes; what is hidden in it is shown."""
    rows = broken(content, look=look, width=width)
    caret_row, caret_column = caret_of(rows, content.caret)
    top = min(max(top, caret_row - height + 1), caret_row, max(len(rows) - height, 0))
    shown = rows[top : top + height]
    pictured: list[Row] = []
    for at, row in enumerate(shown, top):
        is_edge = (at == top and top > 0) or (at == top + height - 1 and at < len(rows) - 1)
        pictured.append([*_margin(at, content, look, width, is_edge=is_edge), *row.cells])
    if not content.text and content.placeholder:
        room = width - columns(pictured[0]) - 1
        quiet = cells_of(content.placeholder, part_style(look, Part.QUIET))
        pictured[0] += cut(quiet, max(room, 0), look.glyphs.more)
    margin = columns(_margin(caret_row, content, look, width))
    return View(Picture(tuple(pictured), (margin + caret_column, caret_row - top)), top)


def broken(content: Content, *, look: Look, width: int) -> list[TextRow]:
    """All rows of the text, without their margins."""
    first = max(width - columns(_margin(0, content, look, width)), 2)
    other = max(width - columns(_margin(1, content, look, width)), 2)
    breaking = _Breaking(first, other)
    plain, marked = "", part_style(look, Part.SELECTED)
    place = 0
    for line in content.text.split("\n"):
        index = place - 1
        for at, text, columns_taken in _pieces(line, content.label):
            index = place + at
            style = marked if any(start <= index < end for start, end in content.selected) else plain
            breaking.add(index, text, columns_taken, style)
        place += len(line)
        breaking.end_line(place, is_caret=index < content.caret <= place)
        place += 1
    return breaking.rows


def caret_of(rows: Sequence[TextRow], caret: int) -> tuple[int, int]:
    """The row and the column in it where the caret stands."""
    for at, row in enumerate(rows):
        for place, column in row.stops:
            if place >= caret:
                return at, column
    return len(rows) - 1, 0


def place_near(row: TextRow, column: int) -> int:
    """The place in the text that is shown at this column of a row, or before it."""
    for (place, _), (_, after) in pairwise(row.stops):
        if column < after:
            return place
    return row.stops[-1][0]


class _Breaking:
    """Fills rows. Their widths differ because the first has a mark in front of it."""

    def __init__(self, first: int, other: int) -> None:
        self.rows: list[TextRow] = []
        self._room = first
        self._other = other
        self._cells: Row = []
        self._stops: list[tuple[int, int]] = []
        self._used = 0

    def add(self, place: int, text: str, width: int, style: str) -> None:
        """Put in what stands at this place of the text. Only what is written out or a tab may be broken."""
        if text == "\t":
            text = " " * min(TAB - self._used % TAB, max(self._room - self._used, 1))
            width = len(text)
        if self._used + width > self._room and (width <= 2 or self._used >= self._room):
            self._break()
        self._stops.append((place, self._used))
        for cell in [Cell(text, width, style)] if width <= 2 and text.strip(" ") else cells_of(text, style):
            if self._used + cell.width > self._room:
                self._break()
            self._cells.append(cell)
            self._used += cell.width

    def end_line(self, place: int, *, is_caret: bool) -> None:
        if is_caret and self._used >= self._room:
            self._break()
        self._stops.append((place, self._used))
        self._break()

    def _break(self) -> None:
        self.rows.append(TextRow(self._cells, tuple(self._stops)))
        self._cells, self._stops, self._used, self._room = [], [], 0, self._other


def _margin(at: int, content: Content, look: Look, width: int, *, is_edge: bool = False) -> Row:
    if width < _NARROW:
        return []
    if is_edge:
        return cells_of(f"{look.glyphs.more} ", part_style(look, Part.QUIET))
    if at > 0:
        return cells_of(" " * _INDENT)
    if not content.is_shell:
        return cells_of(f"{look.glyphs.prompt} ", part_style(look, Part.PROMPT))
    mark = cells_of(f"{look.glyphs.shell} ", part_style(look, Part.SHELL))
    return [*mark, *cells_of(f"({say('shell')}) ", part_style(look, Part.QUIET))]


def _pieces(line: str, label: Callable[[str], str | None]) -> Iterator[tuple[int, str, int]]:
    """Place, what is shown, and its columns, for each grapheme of a line."""
    start = 0
    for at, character in enumerate(line) if not line.isascii() else ():
        shown = label(character)
        if shown is not None:
            yield from ((start + place, text, width) for place, text, width in _graphemes(line[start:at]))
            yield at, visible(shown), width_of(visible(shown))
            start = at + 1
    yield from ((start + place, text, width) for place, text, width in _graphemes(line[start:]))


@lru_cache(512)
def _graphemes(line: str) -> Sequence[tuple[int, str, int]]:
    if line.isascii() and line.isprintable():
        return [(at, character, 1) for at, character in enumerate(line)]
    found: list[tuple[int, str, int]] = []
    place = 0
    for grapheme in iter_graphemes(line):
        text = grapheme if grapheme == "\t" else "".join(_shown(line, place + at) for at in range(len(grapheme)))
        # A mark without a letter would join whatever stands before it.
        text = f" {text}" if text != "\t" and width_of(text[0]) == 0 else text
        found.append((place, text, width_of(text)))
        place += len(grapheme)
    return found


def _shown(line: str, at: int) -> str:
    """A character of a line, written out if it is hidden and not one that holds an emoji or a word together."""
    character = line[at]
    spelled = visible(character)
    if character not in _JOINERS or at == 0:
        return spelled
    before = at - 2 if line[at - 1] == "\ufe0f" else at - 1
    return spelled if spelled in safe(line[max(before, 0) : at + 2]) else character
