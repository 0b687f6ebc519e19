"""Finished blocks on their way to the scrollback of the terminal."""

import time

from rich.console import RenderableType

from tejat.core.log import report_unexpected
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.theme import Theme
from tejat.ui.terminal.screen.live_area import render_error

_PRINT_INTERVAL = 1 / 30
"""Seconds between frames that print, under load."""


class ScrollbackQueue:
    """Collects finished blocks until the next frame, which writes them all at once."""

    def __init__(self) -> None:
        self._pending: list[RenderableType] = []
        self._taken = float("-inf")

    def add(self, *blocks: RenderableType) -> None:
        self._pending += blocks

    @property
    def due(self) -> float:
        """When they should be printed, on the monotonic clock."""
        return self._taken + _PRINT_INTERVAL

    def take(self, theme: Theme, *, width: int) -> str | None:
        """Return the blocks as text with control sequences, None if there are none. Each is returned once."""
        if not self._pending:
            return None
        blocks, self._pending = self._pending, []
        text = "".join(_render_block(block, theme, width) for block in blocks)
        self._taken = time.monotonic()
        return text


def _render_block(block: RenderableType, theme: Theme, width: int) -> str:
    try:
        return render_ansi(block, theme, width=width)
    except Exception as error:  # noqa: BLE001 -- one broken block must not take the others with it
        message = report_unexpected(error, "a printed block")
        return render_ansi(render_error(message, theme), theme, width=width)
