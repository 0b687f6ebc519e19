"""Syntax colours of diffs, in bounded time."""

from collections.abc import Iterator, Sequence

from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind
from tejat.ui.terminal.render.highlight import highlight_source, language_of
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine
from tejat.ui.terminal.render.theme import ColourDepth, Theme

_MAX_CHARS = 80_000
"""Characters of a diff that are highlighted; the rest stays plain."""
_MAX_LINE_CHARS = 1000


def highlight_diff(rows: Sequence[DiffRow], file_name: str, theme: Theme) -> list[StyledLine]:
    """Highlight each row in the language of its file. Both sides of a change are read as the texts that they are."""
    lines: list[StyledLine] = [[(row.text, NO_STYLE)] if row.text else [] for row in rows]
    # Basic colours are needed for the changes themselves.
    if theme.colour_depth <= ColourDepth.ANSI_16:
        return lines
    left = _MAX_CHARS
    for language, start, end in _sections(rows, language_of(file_name)):
        if not language:
            continue
        # A row of context is in both texts; the last one to set its colours is the new text.
        for skipped in (DiffRowKind.ADDED, DiffRowKind.REMOVED):
            side = [at for at in range(start, end) if rows[at].number is not None and rows[at].kind is not skipped]
            if skipped is DiffRowKind.ADDED and not any(rows[at].is_change for at in side):
                continue
            texts = [rows[at].text if len(rows[at].text) <= _MAX_LINE_CHARS else "" for at in side]
            left -= sum(map(len, texts))
            if left < 0:
                return lines
            for at, line in zip(side, highlight_source("\n".join(texts), language, theme), strict=False):
                if len(rows[at].text) <= _MAX_LINE_CHARS:
                    lines[at] = line
    return lines


def _sections(rows: Sequence[DiffRow], language: str) -> Iterator[tuple[str, int, int]]:
    """Yield language, start and end of each stretch of neighbouring lines."""
    start = 0
    for at, row in enumerate(rows):
        if row.kind in (DiffRowKind.GAP, DiffRowKind.FILE):
            yield language, start, at
            start = at + 1
        if row.kind is DiffRowKind.FILE:
            language = language_of(row.text.partition(" (")[0])
    yield language, start, len(rows)
