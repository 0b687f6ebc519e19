"""How a part of the look is written in the style of a cell."""

from functools import lru_cache

from rich.text import Text

from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.theme import StyleRole, Theme


@lru_cache(128)
def cell_style(theme: Theme, role: StyleRole) -> str:
    """As `paint` would paint a letter of it."""
    return render_rows(Text("x", theme.style(role)), theme, width=1)[0][0].style
