"""Finding something again that was typed before, by any part of it."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from tejat.core.words import say
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import cut, one_line, painted, stacked
from tejat.frontends.terminal.text_line import TextLine

_MOST_SHOWN = 10
_LONGEST_SHOWN = 1000


class HistorySearch:
    """A Dialog that comes to the entry that was taken, None where the person left.

    The newest comes first. Case counts only where somebody typed a capital letter.
    """

    def __init__(self, entries: Sequence[str], look: Look) -> None:
        # The newest first, each once.
        self._entries = list(dict.fromkeys(reversed(entries)))
        self._look = look
        self._line = TextLine()
        self._found = self._entries
        self._marked = 0
        self._caret = (0, 0)

    def view(self, *, width: int, height: int) -> RenderableType:
        typed = self._line.drawn(self._look, width=width, most=1, first=say("Search: "))
        hint = [painted(self._look, (cut(self._hint(), width, self._look), Part.QUIET))]
        most = max(min(height - 2, _MOST_SHOWN), 0)
        top = max(self._marked - most + 1, 0)
        shown = [self._row(at, width) for at in range(top, min(top + most, len(self._found)))]
        self._caret = (typed.caret[0], len(shown))
        return stacked([*shown, *typed.rows, *hint][: max(height, 1)])

    def caret(self, *, width: int, height: int) -> tuple[int, int]:
        """Where it stands in the last view, which was of this size."""
        return self._caret

    def press(self, key: str) -> Decided[str | None] | None:
        match key:
            case "escape" | "c-c" | "c-g":
                return Decided(None)
            case "enter" | "tab":
                return Decided(self._found[self._marked] if self._found else None)
            case "up" | "c-p" | "s-tab":
                self._marked = max(self._marked - 1, 0)
            case "down" | "c-n" | "c-r":
                self._marked = min(self._marked + 1, max(len(self._found) - 1, 0))
            case _:
                if self._line.press(key):
                    self._filter()
        return None

    def _filter(self) -> None:
        typed = self._line.text
        if typed == typed.lower():
            self._found = [entry for entry in self._entries if typed in entry.lower()]
        else:
            self._found = [entry for entry in self._entries if typed in entry]
        self._marked = 0

    def _row(self, at: int, width: int) -> Text:
        is_marked = at == self._marked
        sign = self._look.glyphs.mark if is_marked else " "
        entry = cut(one_line(" ".join(self._found[at][:_LONGEST_SHOWN].split())), width - 2, self._look)
        return painted(self._look, (f"{sign} {entry}", Part.SELECTED if is_marked else Part.TEXT))

    def _hint(self) -> str:
        if not self._found:
            return say("Nothing that was typed before has this in it. Esc leaves.")
        return say("Enter takes it, Ctrl-R or Down goes on, Esc leaves.")
