"""Diffs in plain output: drawn as in the terminal where it has colours, else as numbered lines."""

import os
from collections.abc import Sequence

from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.rows import DiffRow, build_diff_rows
from tejat.ui.shared.diff.text_lines import diff_text_lines
from tejat.ui.shared.terminal_background import may_ask_background, read_background


def format_diff_rows(rows: Sequence[DiffRow], style: Style, *, file_name: str = "", indent: int = 0) -> list[str]:
    """Format rows as lines, for a place that is `indent` columns from the left.

    `file_name` gives the language of rows without a file row above. Without colours each row is one line with its
    number and sign, and trailing blanks are spelled out.
    """
    if style.is_coloured:
        return _draw(rows, style, file_name, width=style.columns - indent)
    return diff_text_lines(rows)


def format_diff(diff: str, style: Style, *, with_files: bool = True, file_name: str = "") -> str:
    """Format a unified diff for a stream: rows for a terminal, the sanitized diff itself for files and pipes."""
    if not style.is_terminal and not style.is_coloured:
        return sanitize_text(diff.removesuffix("\n"))
    return "\n".join(format_diff_rows(build_diff_rows(diff, with_files=with_files), style, file_name=file_name))


def _draw(rows: Sequence[DiffRow], style: Style, file_name: str, *, width: int) -> list[str]:
    from tejat.ui.terminal.render.diff import render_diff_rows
    from tejat.ui.terminal.render.rich_output import render_ansi
    from tejat.ui.terminal.render.theme import detect_theme

    is_dark = read_background() if style.is_terminal and may_ask_background(os.environ) else None
    theme = detect_theme(os.environ, encoding=style.encoding, is_dark=is_dark)
    drawn = render_ansi(render_diff_rows(rows, theme, file_name=file_name), theme, width=width)
    return drawn.removesuffix("\n").split("\n") if rows else []
