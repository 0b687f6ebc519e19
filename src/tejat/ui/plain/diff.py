"""Diffs in plain output: drawn as in the terminal where it has colours, else as numbered lines."""

import os
import re
from collections.abc import Iterator, Sequence

from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, build_diff_rows, clip_label, gap_label
from tejat.ui.shared.terminal_background import may_ask_background, read_background

_SIGNS = {DiffRowKind.ADDED: "+", DiffRowKind.REMOVED: "-"}
_BLANKS = re.compile(r" +|\t+")


def format_diff_rows(rows: Sequence[DiffRow], style: Style, *, file_name: str = "") -> list[str]:
    """Format rows as lines. `file_name` gives the language of rows without a file row above.

    Without colours each row is one line with its number and sign, and trailing blanks are spelled out.
    """
    if style.is_coloured:
        return _draw(rows, style, file_name)
    highest = max((row.number or 0 for row in rows), default=0)
    return [_line_text(row, len(str(highest))) for row in rows]


def format_diff(diff: str, style: Style, *, with_files: bool = True, file_name: str = "") -> str:
    """Format a unified diff for a stream: rows for a terminal, the sanitized diff itself for files and pipes."""
    if not style.is_terminal and not style.is_coloured:
        return sanitize_text(diff.removesuffix("\n"))
    return "\n".join(format_diff_rows(build_diff_rows(diff, with_files=with_files), style, file_name=file_name))


def _draw(rows: Sequence[DiffRow], style: Style, file_name: str) -> list[str]:
    from tejat.ui.terminal.render.diff import render_diff_rows
    from tejat.ui.terminal.render.rich_output import render_ansi
    from tejat.ui.terminal.render.theme import detect_theme

    is_dark = read_background() if style.is_terminal and may_ask_background(os.environ) else None
    theme = detect_theme(os.environ, encoding=style.encoding, is_dark=is_dark)
    drawn = render_ansi(render_diff_rows(rows, theme, file_name=file_name), theme, width=style.columns)
    return drawn.removesuffix("\n").split("\n") if rows else []


def _line_text(row: DiffRow, digits: int) -> str:
    match row.kind:
        case DiffRowKind.FILE:
            return f"{row.text} +{row.added} -{row.removed}" if row.added or row.removed else row.text
        case DiffRowKind.GAP:
            return f"[{', '.join(filter(None, (gap_label(row), row.text.strip()))) or '...'}]"
        case DiffRowKind.NOTE:
            return f"[{row.text}]" if not row.text.startswith("[") else row.text
        case _:
            clipped = f" [{clip_label(row)}]" if row.hidden else ""
            text = "".join(_visible_text(row)) + clipped
            return f"{row.number or '':>{digits}} {_SIGNS.get(row.kind, ' ')} {text}".rstrip()


def _visible_text(row: DiffRow) -> Iterator[str]:
    """Yield the text and, in a changed line, its trailing blanks in words: nobody would see or hear them."""
    kept = row.text.rstrip(" \t") if row.is_change else row.text
    yield kept
    for blanks in _BLANKS.finditer(row.text, len(kept)):
        count = len(blanks.group())
        yield f"<U+{ord(blanks.group()[0]):04X}{f' x {count}' if count > 1 else ''}>"
