"""Single-line text input by graphemes."""

from rich.text import Text
from wcwidth import iter_graphemes

from tejat.core.frozen import Frozen
from tejat.ui.terminal.render.text_rows import display_width, single_line, styled_row
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_CHARS = 100_000


class RenderedInput(Frozen):
    """Rows of an input, and column and row of its caret."""

    rows: tuple[Text, ...]
    caret: tuple[int, int]


class TextInput:
    """Text and caret. Pasted newlines become blanks."""

    def __init__(self, text: str = "", *, is_secret: bool = False) -> None:
        self._before = list(iter_graphemes(text))
        self._after: list[str] = []
        self._is_secret = is_secret

    @property
    def text(self) -> str:
        return "".join((*self._before, *self._after))

    def press(self, key: str) -> bool:
        """Handle a key; return whether it was used."""
        match key:
            case "left":
                if self._before:
                    self._after.insert(0, self._before.pop())
            case "right":
                if self._after:
                    self._before.append(self._after.pop(0))
            case "home":
                self._before, self._after = [], self._before + self._after
            case "end":
                self._before, self._after = self._before + self._after, []
            case "backspace":
                if self._before:
                    self._before.pop()
            case "delete":
                if self._after:
                    self._after.pop(0)
            case _:
                return self._type(key)
        return True

    def render(self, theme: Theme, *, width: int, max_rows: int, first: str = "") -> RenderedInput:
        """Render at most `max_rows` around the caret. Secrets show only their length."""
        indent = " " * display_width(first)
        rows, columns = [first], len(indent)
        caret = (columns, 0)
        letters = [self._display(letter, theme) for letter in (*self._before, *self._after)]
        for at, letter in enumerate((*letters, " ")):  # room for the caret after the last character
            for number, (piece, wide) in enumerate(_pieces(letter, width - len(indent))):
                if columns + wide > width and len(rows[-1]) > len(indent):
                    rows.append(indent)
                    columns = len(indent)
                if at == len(self._before) and number == 0:
                    caret = (columns, len(rows) - 1)
                rows[-1] += piece
                columns += wide
        column, line = caret
        start = max(0, min(line - max_rows + 1, len(rows) - max_rows))
        shown = [styled_row(theme, (row, StyleRole.TEXT)) for row in rows[start : start + max_rows]]
        return RenderedInput(tuple(shown), (column, line - start))

    def _type(self, key: str) -> bool:
        """Insert a character, joined with the previous one if they form a grapheme."""
        if key in ("\n", "\r", "\t"):
            key = " "
        if len(key) != 1 or len(self._before) + len(self._after) >= _MAX_CHARS:
            return False
        last = self._before.pop() if self._before else ""
        self._before += iter_graphemes(last + key)
        return True

    def _display(self, letter: str, theme: Theme) -> str:
        return theme.glyphs.bullet if self._is_secret else single_line(letter)


def _pieces(text: str, width: int) -> list[tuple[str, int]]:
    """Return a grapheme as one piece, or the characters of its escaped form."""
    columns = display_width(text)
    return [(text, columns)] if columns <= max(width, 2) else [(letter, 1) for letter in text]
