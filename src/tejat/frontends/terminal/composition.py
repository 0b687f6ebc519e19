"""Who gets how many rows: what goes on, what is queued, the editor or a dialog, a hint, the status line."""

from collections.abc import Callable, Sequence

from tejat.core.value import value
from tejat.frontends.terminal.cells import Picture, Row

_ROOMY = 12
"""In so many rows there is room for more than the editor."""
_KEPT = 4
"""Of those, so many are kept from the editor or a dialog for what stands above it."""


@value
class Foot:
    """The hint and the status line, as far as there is room for them."""

    rows: tuple[Row, ...]

    @classmethod
    def fitting(cls, height: int, *, hint: Row | None, status: Row | None) -> "Foot":
        wanted = [row for row in (hint, status) if row is not None]
        # With little room one of them must do, and a hint is there for a reason.
        return cls(tuple(wanted[: 0 if height < 2 else 1 if height < 4 else 2]))


def body_height(height: int, foot: Foot, above: int) -> int:
    """The most rows that the editor or a dialog may take, with so many wanted above it."""
    left = max(height - len(foot.rows), 1)
    return left - min(above, _KEPT) if left >= _ROOMY else left


def compose(
    height: int,
    *,
    live: Sequence[Row],
    queued: Sequence[Row],
    body: Picture,
    foot: Foot,
    say_above: Callable[[int], Row],
) -> Picture:
    """All of it in at most `height` rows; the row of the caret is always among them.

    Where there is room, an empty row keeps what is typed apart from what was said.
    """
    body = _around_caret(body, max(height - len(foot.rows), 1))
    gap: list[Row] = [[]] if height >= _ROOMY and len(body.rows) + len(foot.rows) < height else []
    left = max(height - len(foot.rows) - len(body.rows) - len(gap), 0)
    waiting = list(queued[: left if not live else max(left - 1, 0)])
    going_on = _end_of(live, left - len(waiting), say_above)
    above = [*going_on, *gap, *waiting]
    caret = None if body.caret is None else (body.caret[0], body.caret[1] + len(above))
    return Picture((*above, *body.rows, *foot.rows), caret)


def _end_of(rows: Sequence[Row], height: int, say_above: Callable[[int], Row]) -> list[Row]:
    """The newest is at the end; what does not fit is counted."""
    if len(rows) <= height:
        return list(rows)
    if height < 2:
        return list(rows[len(rows) - height :])
    hidden = len(rows) - height + 1
    return [say_above(hidden), *rows[hidden:]]


def _around_caret(picture: Picture, height: int) -> Picture:
    if len(picture.rows) <= height:
        return picture
    if picture.caret is None:
        return Picture(picture.rows[:height])
    column, line = picture.caret
    first = min(max(line - height + 1, 0), len(picture.rows) - height)
    return Picture(picture.rows[first : first + height], (column, line - first))
