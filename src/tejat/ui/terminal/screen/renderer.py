"""A prompt_toolkit renderer that shares the terminal with printed output above it."""

from collections.abc import Mapping
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.renderer import Renderer


class InlineRenderer(Renderer):
    """Finds the start of the drawing by counting rows from the cursor; nothing else may write meanwhile."""

    reflows = True

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        if self._last_size is not None and self.output.get_size() != self._last_size:
            self.clear_drawing()
        super().render(app, layout, is_done)

    def clear_drawing(self) -> None:
        """Erase the drawing. The next output starts where it began, and the next drawing follows that."""
        self._adjust_to_width(self.output.get_size())
        self.output.write_raw("\r")
        self.output.cursor_up(self._cursor_pos.y)
        self.output.reset_attributes()
        self.output.erase_down()
        self.reset_position()

    def erase(self, leave_alternate_screen: bool = True) -> None:
        self.clear_drawing()
        self.reset(leave_alternate_screen=leave_alternate_screen)

    def reset_position(self) -> None:
        """Start the next drawing at the cursor."""
        self._cursor_pos = Point(x=0, y=0)
        self._last_screen = None
        self._last_style = None

    def _adjust_to_width(self, size: Size) -> None:
        """Recompute the cursor position after the terminal re-wrapped rows at a new width."""
        rendered = self._last_screen
        if rendered is None or self._last_size is None or size.columns >= self._last_size.columns or not self.reflows:
            return
        width = max(size.columns, 1)
        above = sum(max(1, -(-_used_columns(rendered, y) // width)) for y in range(self._cursor_pos.y))
        self._cursor_pos = Point(x=0, y=above + self._cursor_pos.x // width)


def terminal_reflows(environment: Mapping[str, str]) -> bool:
    """Whether the terminal re-wraps rows when it gets narrower. Most do; these truncate them."""
    if environment.get("TMUX"):
        return True
    terminal = environment.get("TERM", "")
    return not (environment.get("XTERM_VERSION") or terminal.startswith(("screen", "linux", "st-", "vt")))


def _used_columns(rendered: Screen, y: int) -> int:
    return max((x + 1 for x, cell in rendered.data_buffer[y].items() if cell.char != " "), default=0)
