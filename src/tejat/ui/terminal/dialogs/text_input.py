"""One line that is typed within a dialog: letter by letter, as people see letters."""

from rich.text import Text
from wcwidth import iter_graphemes

from tejat.core.frozen import frozen
from tejat.ui.terminal.render.text_rows import display_width, single_line, styled_row
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_CHARS = 100_000


@frozen
class RenderedInput:
    """What is drawn of a line, and the column and row of its caret."""

    rows: tuple[Text, ...]
    caret: tuple[int, int]


class TextInput:
    """The text so far and where the caret stands. A line end that is pasted becomes a blank."""

    def __init__(self, text: str = "", *, is_secret: bool = False) -> None:
        self._before = list(iter_graphemes(text))
        self._after: list[str] = []
        self._is_secret = is_secret

    @property
    def text(self) -> str:
        return "".join((*self._before, *self._after))

    def press(self, key: str) -> bool:
        """Whether this was a key for the line."""
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
        """The rows around the caret, at most so many. Nothing of a secret can be seen but how long it is."""
        indent = " " * display_width(first)
        rows, columns = [first], len(indent)
        caret = (columns, 0)
        letters = [self._display(letter, theme) for letter in (*self._before, *self._after)]
        for at, letter in enumerate((*letters, " ")):  # behind the last letter there is room for the caret
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
        """What was typed joins the letter before it where the two are one."""
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
    """A letter is one piece; a hidden one, which is written out, may be broken."""
    columns = display_width(text)
    return [(text, columns)] if columns <= max(width, 2) else [(letter, 1) for letter in text]
