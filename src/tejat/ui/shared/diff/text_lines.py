"""Diffs as lines of text, for plain output and pagers."""

import re
from collections.abc import Iterator, Sequence

from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, clip_label, gap_label

_SIGNS = {DiffRowKind.ADDED: "+", DiffRowKind.REMOVED: "-"}


def diff_text_lines(rows: Sequence[DiffRow]) -> list[str]:
    """Return one line for each row, with its number and sign. Trailing blanks of changed lines are spelled out."""
    highest = max((row.number or 0 for row in rows), default=0)
    return [_line_text(row, len(str(highest))) for row in rows]


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
    for blanks in re.finditer(r" +|\t+", row.text[len(kept) :]):
        count = len(blanks.group())
        yield f"<U+{ord(blanks.group()[0]):04X}{f' x {count}' if count > 1 else ''}>"
