"""prompt_toolkit styles of theme roles."""

from functools import lru_cache

from rich.text import Text

from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.theme import StyleRole, Theme


@lru_cache(128)
def cell_style(theme: Theme, role: StyleRole) -> str:
    """Return the prompt_toolkit style of a role, the same as `render_rows` gives it."""
    return render_rows(Text("x", theme.style(role)), theme, width=1)[0][0].style
