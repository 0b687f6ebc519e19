"""Key hints of a dialog: `Enter to confirm · Esc to cancel`."""

from collections.abc import Sequence

from rich.text import Text

from tejat.ui.terminal.render.text_rows import display_width, truncated_row
from tejat.ui.terminal.render.theme import StyleRole, Theme


def joined_hints(hints: Sequence[str], theme: Theme, *, width: int) -> Text:
    """Return one row with as many of the hints as fit, the most important first."""
    text = ""
    for hint in hints:
        joined = f"{text} {theme.glyphs.separator} {hint}" if text else hint
        if text and display_width(joined) > width:
            break
        text = joined
    return truncated_row(theme, text, StyleRole.QUIET, width)
