"""Approval views in plain lines, wrapped and never truncated."""

import unicodedata
from collections.abc import Iterator

from tejat.core.text.column_wrap import wrap_columns
from tejat.ui.plain.diff import format_diff_rows
from tejat.ui.plain.style import Style
from tejat.ui.shared.approval.display_lines import CONTINUATION_PREFIX, DisplayLineKind
from tejat.ui.shared.approval.view import ApprovalView

MIN_WIDTH = 20
DEFAULT_WIDTH = 80


def question_lines(view: ApprovalView, style: Style, *, width: int) -> list[str]:
    """Return all lines of a view, the action last, right above the choices."""
    width = max(width, MIN_WIDTH)
    heading = " ".join(filter(None, (view.heading, *view.counts, f"({view.position})" if view.position else "")))
    lines = [style.bold(line) for line in wrap_line(heading, width=width)]
    for fact in view.facts:
        lines += wrap_line(fact.text, width=width)
    for line in (*view.server_notes, *view.body):
        rows = wrap_line(line.text, width=width, first=line.prefix)
        lines += map(style.bold, rows) if line.kind in _COMMANDS else rows
    return [*lines, *_diff_lines(view, style, width)]


def wrap_line(text: str, *, width: int, first: str = "") -> list[str]:
    """Wrap one line: the first row begins with `first`, the others with the continuation prefix."""
    if len(first) + len(text) <= width and text.isascii() and "\t" not in text:
        return [first + text]
    characters = ((character, _column_width(character)) for character in text)
    return wrap_columns(characters, width=width, measure=len, first=first, rest=CONTINUATION_PREFIX)


def _diff_lines(view: ApprovalView, style: Style, width: int) -> Iterator[str]:
    for line in format_diff_rows(view.diff, style, file_name=view.file_path):
        # With colours the lines already fit.
        yield from [line] if style.is_coloured else wrap_line(line, width=width)


_COMMANDS = (DisplayLineKind.COMMAND, DisplayLineKind.COMMAND_CONTINUATION)


def _column_width(character: str) -> int:
    if character == "\t":
        return 8
    return 2 if character > "\u02ff" and unicodedata.east_asian_width(character) in "WF" else 1
