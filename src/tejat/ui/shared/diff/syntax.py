"""Tokens of the code in diffs, in bounded time."""

from collections.abc import Iterator, Sequence

from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind
from tejat.ui.shared.text.code_tokens import CodeLine, plain_lines, split_source
from tejat.ui.shared.text.languages import language_of

_MAX_CHARS = 80_000
"""Characters of a diff that are highlighted; the rest stays plain."""
_MAX_LINE_CHARS = 1000


def diff_tokens(rows: Sequence[DiffRow], file_name: str) -> list[CodeLine]:
    """Split each row in the language of its file. Both sides of a change are read as the texts that they are."""
    lines = plain_lines([row.text for row in rows])
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
            for at, line in zip(side, split_source("\n".join(texts), language), strict=False):
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
