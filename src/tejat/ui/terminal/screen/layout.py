"""Layout of the live area: how many rows each part gets."""

from collections.abc import Callable, Sequence

from tejat.core.frozen import Frozen
from tejat.ui.terminal.render.cells import CellRow, Frame

_ROOMY_HEIGHT = 12
"""Height from which there is room for more than the editor."""
_MAX_ROWS_ABOVE = 4
"""Rows reserved above the editor or dialog in a roomy layout."""


class Footer(Frozen):
    """Rows of a hint and the status line, as far as they fit."""

    rows: tuple[CellRow, ...]

    @classmethod
    def fit(cls, height: int, *, hints: Sequence[CellRow], status: CellRow) -> "Footer":
        rows = [*(hints if height >= _ROOMY_HEIGHT else hints[:1]), status]
        # With little room only one fits, and a hint is more urgent.
        return cls(tuple(rows[: 0 if height < 2 else 1 if height < 4 else len(rows)]))


def max_body_height(height: int, footer: Footer, above: int) -> int:
    """Return the most rows that the editor or dialog may take, with this many rows wanted above it."""
    left = max(height - len(footer.rows), 1)
    return left - min(above, _MAX_ROWS_ABOVE) if left >= _ROOMY_HEIGHT else left


def compose_frame(
    height: int,
    *,
    live: Sequence[CellRow],
    queued: Sequence[CellRow],
    body: Frame,
    footer: Footer,
    hidden_rows_label: Callable[[int], CellRow],
) -> Frame:
    """Compose all parts in at most `height` rows, the caret's included; with room an empty row sets off the editor."""
    body = _crop_around_caret(body, max(height - len(footer.rows), 1))
    gap: list[CellRow] = [[]] if height >= _ROOMY_HEIGHT and len(body.rows) + len(footer.rows) < height else []
    left = max(height - len(footer.rows) - len(body.rows) - len(gap), 0)
    queued_rows = list(queued[: left if not live else max(left - 1, 0)])
    live_tail = _tail_rows(live, left - len(queued_rows), hidden_rows_label)
    above = [*live_tail, *gap, *queued_rows]
    caret = None if body.caret is None else (body.caret[0], body.caret[1] + len(above))
    return Frame((*above, *body.rows, *footer.rows), caret)


def _tail_rows(rows: Sequence[CellRow], height: int, hidden_rows_label: Callable[[int], CellRow]) -> list[CellRow]:
    """Return the last rows, with a count of the hidden ones."""
    if len(rows) <= height:
        return list(rows)
    if height < 2:
        return list(rows[len(rows) - height :])
    hidden = len(rows) - height + 1
    return [hidden_rows_label(hidden), *rows[hidden:]]


def _crop_around_caret(frame: Frame, height: int) -> Frame:
    if len(frame.rows) <= height:
        return frame
    if frame.caret is None:
        return Frame(frame.rows[:height])
    column, line = frame.caret
    first = min(max(line - height + 1, 0), len(frame.rows) - height)
    return Frame(frame.rows[first : first + height], (column, line - first))
