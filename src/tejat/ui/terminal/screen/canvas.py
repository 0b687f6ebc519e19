"""A prompt_toolkit container that draws frames of cells."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout import Container, Dimension, Window
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Char, Screen, WritePosition

from tejat.ui.terminal.render.cells import Cell, CellRow, Frame
from tejat.ui.terminal.screen.output import PositionedText

_FILLER = Char("", "")
_FIRST_EMOJI = 0x1F000


class Canvas(Container):
    """Draws a frame as it is. Its windows only receive keys."""

    def __init__(self, windows: Sequence[Window], *, frame: Callable[[], Frame], focused: Callable[[], Window]) -> None:
        self._windows = list(windows)
        self._frame = frame
        self._focused = focused

    def reset(self) -> None:
        for window in self._windows:
            window.reset()

    def preferred_width(self, max_available_width: int) -> Dimension:
        return Dimension(preferred=max_available_width)

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:
        return Dimension(preferred=len(self._frame().rows))

    def get_children(self) -> list[Container]:
        return list[Container](self._windows)

    def write_to_screen(
        self,
        screen: Screen,
        mouse_handlers: MouseHandlers,
        write_position: WritePosition,
        parent_style: str,
        erase_bg: bool,
        z_index: int | None,
    ) -> None:
        frame, window = self._frame(), self._focused()
        for y, row in enumerate(frame.rows[: write_position.height]):
            _write(screen, y, row, write_position.width)
        screen.width = write_position.width
        screen.height = min(len(frame.rows), write_position.height)
        screen.visible_windows_to_write_positions[window] = write_position
        last = max(screen.height - 1, 0)
        column, line = frame.caret or (0, last)
        column, line = min(column, max(write_position.width - 1, 0)), min(line, last)
        screen.set_cursor_position(window, Point(x=column, y=line))
        screen.show_cursor = frame.caret is not None


def _write(screen: Screen, y: int, row: CellRow, width: int) -> None:
    cells, x = screen.data_buffer[y], 0
    for cell in row:
        if cell.width == 0:
            continue
        if x + cell.width > width:
            return
        cells[x] = _char(cell, x)
        for filled in range(x + 1, x + cell.width):
            cells[filled] = _FILLER
        x += cell.width


def _char(cell: Cell, x: int) -> Char:
    text = cell.text
    # Terminals disagree about the width of multi-character graphemes and emoji.
    if not text.isascii() and (len(text) > 1 or ord(text) >= _FIRST_EMOJI):
        rendered = Char(" ", cell.style)
        rendered.char, rendered.width = PositionedText(text, x + cell.width), cell.width
        return rendered
    return _make_char(text, cell.style, cell.width)


@lru_cache(maxsize=4096)
def _make_char(text: str, style: str, width: int) -> Char:
    rendered = Char(" ", style)
    rendered.char, rendered.width = text, width
    return rendered
