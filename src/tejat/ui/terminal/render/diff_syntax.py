"""Syntax colours of diffs, in bounded time."""

from collections.abc import Sequence

from tejat.ui.shared.diff.rows import DiffRow
from tejat.ui.shared.diff.syntax import diff_tokens
from tejat.ui.shared.text.code_tokens import plain_lines
from tejat.ui.terminal.render.highlight import style_tokens
from tejat.ui.terminal.render.text_wrap import StyledLine
from tejat.ui.terminal.render.theme import ColourDepth, Theme


def highlight_diff(rows: Sequence[DiffRow], file_name: str, theme: Theme) -> list[StyledLine]:
    """Highlight each row in the language of its file."""
    # Basic colours are needed for the changes themselves.
    has_colours = theme.colour_depth > ColourDepth.ANSI_16
    lines = diff_tokens(rows, file_name) if has_colours else plain_lines([row.text for row in rows])
    return [style_tokens(line, theme) for line in lines]
