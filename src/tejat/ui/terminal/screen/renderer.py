"""prompt_toolkit's renderer, which writes what has changed, sharing the terminal with what is printed above it."""

from collections.abc import Mapping
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.renderer import Renderer


class InlineRenderer(Renderer):
    """Knows where the drawing begins by counting rows from the cursor, so nobody else may write while it stands."""

    reflows = True

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        if self._last_size is not None and self.output.get_size() != self._last_size:
            self.clear_drawing()
        super().render(app, layout, is_done)

    def clear_drawing(self) -> None:
        """Take the drawing away. What is written next stands where it began, and the next drawing comes after that."""
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
        """There is no drawing any more; the next one begins where the cursor is."""
        self._cursor_pos = Point(x=0, y=0)
        self._last_screen = None
        self._last_style = None

    def _adjust_to_width(self, size: Size) -> None:
        """Where the cursor has come to by a new width: rows that no longer fit have been broken by the terminal."""
        rendered = self._last_screen
        if rendered is None or self._last_size is None or size.columns >= self._last_size.columns or not self.reflows:
            return
        width = max(size.columns, 1)
        above = sum(max(1, -(-_used_columns(rendered, y) // width)) for y in range(self._cursor_pos.y))
        self._cursor_pos = Point(x=0, y=above + self._cursor_pos.x // width)


def terminal_reflows(environment: Mapping[str, str]) -> bool:
    """Whether the terminal breaks rows anew when it gets narrower. Most do; these cut them off."""
    if environment.get("TMUX"):
        return True
    terminal = environment.get("TERM", "")
    return not (environment.get("XTERM_VERSION") or terminal.startswith(("screen", "linux", "st-", "vt")))


def _used_columns(rendered: Screen, y: int) -> int:
    return max((x + 1 for x, cell in rendered.data_buffer[y].items() if cell.char != " "), default=0)
