"""One line to type: a name, an address, a key that nobody should see."""

from rich.console import RenderableType

from tejat.core.words import say
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import one_line, painted, stacked, wrapped_words
from tejat.frontends.terminal.text_line import TextLine


class EnterDialog:
    """A Dialog that comes to what was typed, None where the person left. Of a secret only bullets are drawn."""

    def __init__(self, label: str, look: Look, *, initial: str = "", is_secret: bool = False) -> None:
        self._label = one_line(label)
        self._look = look
        self._line = TextLine(initial, is_secret=is_secret)
        self._caret = (0, 0)

    def view(self, *, width: int, height: int) -> RenderableType:
        label = [painted(self._look, (row, Part.STRONG)) for row in wrapped_words(self._label, width=width)]
        hint = wrapped_words(say("Enter takes it, Esc leaves it."), width=width)
        label = label[: max(0, height - 1)]
        most = max(1, height - len(label) - len(hint))
        typed = self._line.drawn(self._look, width=width, most=most, first="> ")
        column, line = typed.caret
        self._caret = (column, len(label) + line)
        rows = [*label, *typed.rows, *(painted(self._look, (row, Part.QUIET)) for row in hint)]
        return stacked(rows[: max(1, height)])

    def caret(self, *, width: int, height: int) -> tuple[int, int]:
        """Where it stands in the last view, which was of this size."""
        return self._caret

    def press(self, key: str) -> Decided[str | None] | None:
        if key in ("escape", "c-c"):
            return Decided(None)
        if key == "enter":
            return Decided(self._line.text)
        self._line.press(key)
        return None
