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

    def view(self, *, width: int, height: int) -> RenderableType:
        label = [painted(self._look, (row, Part.STRONG)) for row in wrapped_words(self._label, width=width)]
        hint = wrapped_words(say("Enter takes it, Esc leaves it."), width=width)
        most = max(1, height - len(label) - len(hint))
        rows = [*label[: max(0, height - 1)], *self._line.rows(self._look, width=width, most=most, first="> ")]
        rows += [painted(self._look, (row, Part.QUIET)) for row in hint]
        return stacked(rows[: max(1, height)])

    def press(self, key: str) -> Decided[str | None] | None:
        if key in ("escape", "c-c"):
            return Decided(None)
        if key == "enter":
            return Decided(self._line.text)
        self._line.press(key)
        return None
