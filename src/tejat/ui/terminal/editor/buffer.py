"""Edit buffer whose caret never stops within a grapheme."""

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from wcwidth import grapheme_boundary_before, iter_graphemes

_MAX_GRAPHEME_CHARS = 64
"""Longest grapheme that is recognised, a bound for hostile text."""


class EditorBuffer(Buffer):
    """Buffer for all emacs and vi bindings. `step_history` moves through the history."""

    def __init__(self, step_history: Callable[[int], None]) -> None:
        super().__init__(multiline=True)
        self._step_history = step_history
        self._last = 0
        self.on_cursor_position_changed += self._snap_to_grapheme

    def history_backward(self, count: int = 1) -> None:
        self._step_history(-count)

    def history_forward(self, count: int = 1) -> None:
        self._step_history(count)

    def delete(self, count: int = 1) -> str:
        within = grapheme_around(self.text, self.cursor_position + count)
        deleted = super().delete(count if within is None else within[1] - self.cursor_position)
        self._snap_to_grapheme(self)  # neighbours may have become one grapheme
        return deleted

    def delete_before_cursor(self, count: int = 1) -> str:
        count = min(count, self.cursor_position)
        within = grapheme_around(self.text, self.cursor_position - count)
        return super().delete_before_cursor(count if within is None else self.cursor_position - within[0])

    def _snap_to_grapheme(self, _: Buffer) -> None:
        """Move the caret out of a grapheme in the direction it was moving."""
        position = self.cursor_position
        within = grapheme_around(self.text, position)
        if within is not None:
            position = within[1] if position > self._last else within[0]
        self._last = position
        if position != self.cursor_position:
            self.cursor_position = position


def grapheme_around(text: str, position: int) -> tuple[int, int] | None:
    """Return start and end of the grapheme around the position, None if it lies between two."""
    if text.isascii() or not 0 < position < len(text):
        return None
    around = text[max(position - _MAX_GRAPHEME_CHARS, 0) : position + _MAX_GRAPHEME_CHARS]
    offset = position - min(position, _MAX_GRAPHEME_CHARS)
    start = offset + grapheme_boundary_before(around, position - offset + 1)
    if start == position:
        return None
    first = next(iter_graphemes(text[start : position + _MAX_GRAPHEME_CHARS]))
    return start, start + len(first)
