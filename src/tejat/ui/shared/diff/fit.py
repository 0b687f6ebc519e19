"""Diffs shortened to a height: context goes first, then the middle."""

from collections.abc import Callable, Sequence

from tejat.core.ui.report import DiffBlock
from tejat.ui.shared.diff.rows import CONTEXT_LINES, DiffRow, DiffRowKind, build_diff_rows, count_changes, trim_context


def _one_row(_row: DiffRow) -> int:
    return 1


def fit_rows(
    rows: Sequence[DiffRow], max_rows: int, *, height: Callable[[DiffRow], int] = _one_row
) -> tuple[DiffRow, ...]:
    """Shorten a diff to at most `max_rows` rows on the screen, where a row takes `height` of them.

    Unchanged lines are trimmed first. Then the beginning and the end are kept, and one gap between them says how many
    lines it hides. At least that gap is returned, unless there is no room at all.
    """
    if max_rows <= 0:
        return ()
    fitted = tuple(rows)
    for context in range(CONTEXT_LINES, -1, -1):
        if sum(map(height, fitted)) <= max_rows:
            return fitted
        fitted = trim_context(rows, context)
    return fitted if sum(map(height, fitted)) <= max_rows else _keep_both_ends(fitted, max_rows - 1, height)


def block_rows(block: DiffBlock) -> tuple[DiffRow, ...]:
    """Return the rows of a report's diff."""
    rows = build_diff_rows(block.text)
    return rows if block.max_rows is None else fit_rows(rows, block.max_rows)


def _keep_both_ends(rows: tuple[DiffRow, ...], max_rows: int, height: Callable[[DiffRow], int]) -> tuple[DiffRow, ...]:
    """Keep what fits of the beginning and the end, with a gap between them and the name of the file that ends."""
    head = _count_fitting(rows, max_rows - max_rows // 2, height)
    tail = _count_fitting(rows[:head:-1], max_rows // 2, height)
    free = max_rows - sum(map(height, rows[:head])) - sum(map(height, rows[len(rows) - tail :]))
    more = _count_fitting(rows[head : len(rows) - tail], free, height)
    free -= sum(map(height, rows[head : head + more]))
    head += more
    tail += _count_fitting(rows[head : len(rows) - tail][::-1], free, height)
    while head and rows[head - 1].kind in (DiffRowKind.GAP, DiffRowKind.FILE):
        head -= 1
    end = len(rows) - tail
    if _hidden_file(rows, head, end):
        end += 1  # its name takes this place
    while end < len(rows) and rows[end].kind is DiffRowKind.GAP:
        end += 1
    return (*rows[:head], _hide(rows[head:end]), *_hidden_file(rows, head, end), *rows[end:])


def _hidden_file(rows: Sequence[DiffRow], head: int, end: int) -> Sequence[DiffRow]:
    """Return the heading of the file that the end belongs to, if it is hidden."""
    if end >= len(rows) or rows[end].kind is DiffRowKind.FILE:
        return ()
    return next(([row] for row in reversed(rows[head:end]) if row.kind is DiffRowKind.FILE), ())


def _count_fitting(rows: Sequence[DiffRow], max_rows: int, height: Callable[[DiffRow], int]) -> int:
    used = 0
    for count, row in enumerate(rows):
        used += height(row)
        if used > max_rows:
            return count
    return len(rows)


def _hide(rows: Sequence[DiffRow]) -> DiffRow:
    added, removed = count_changes(rows)
    lines = sum(row.is_change or row.kind is DiffRowKind.CONTEXT for row in rows)
    return DiffRow(DiffRowKind.GAP, hidden=lines, added=added, removed=removed)
