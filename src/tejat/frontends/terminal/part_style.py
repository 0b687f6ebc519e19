"""How a part of the look is written in the style of a cell."""

from functools import lru_cache

from rich.text import Text

from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.paint import rows_of


@lru_cache(128)
def part_style(look: Look, part: Part) -> str:
    """As `paint` would paint a letter of it."""
    return rows_of(Text("x", look.style(part)), look, width=1)[0][0].style
