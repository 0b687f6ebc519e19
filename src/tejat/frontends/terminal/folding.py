"""Long results: a few lines of them in the scrollback, the whole when somebody asks for it."""

from collections.abc import Sequence
from itertools import islice

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say, say_count
from tejat.frontends.terminal.look import Look, Part

MOST_OPENED = 2000
"""Lines of one result that are shown when it is opened."""

_FIRST, _LAST = 3, 5
_MOST_CHANGED = 20
_LONGEST_FOLDED, _LONGEST_OPENED = 400, 4000
_PART_OF_LINE = {"+": Part.ADDED, "-": Part.REMOVED, "@": Part.HUNK, "\\": Part.QUIET}


@value
class Folded:
    """A text under a title; `is_patch` says that its lines are those of a diff."""

    title: str
    text: str
    is_patch: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is left out when it is folded."""
        lines = self._lines
        return len(lines) <= (_MOST_CHANGED if self.is_patch else _FIRST + _LAST) and all(
            len(line) <= _LONGEST_FOLDED for line in lines
        )

    def closed(self, look: Look, *, indent: int = 2) -> RenderableType:
        """The first and the last lines, of a change the first ones, and how many are left out."""
        lines = self._lines
        first, last = (_MOST_CHANGED, 0) if self.is_patch else (_FIRST, _LAST)
        left_out = max(len(lines) - first - last, 0)
        head = lines[:first] if left_out else lines
        tail = lines[len(lines) - last :] if left_out else ()
        drawn = [self._drawn(line, look, _LONGEST_FOLDED) for line in head]
        if left_out:
            drawn.append(Text(_left_out(left_out, look), look.style(Part.QUIET)))
        drawn += [self._drawn(line, look, _LONGEST_FOLDED) for line in tail]
        if not left_out and not self.is_whole:
            drawn.append(Text(say("(Ctrl-O shows the whole lines)"), look.style(Part.QUIET)))
        return Padding(Group(*drawn), (0, 0, 0, indent))

    def opened(self, look: Look) -> RenderableType:
        """All of it, as far as anybody would scroll."""
        lines = self._lines
        drawn = [self._drawn(line, look, _LONGEST_OPENED) for line in islice(lines, MOST_OPENED)]
        if len(lines) > MOST_OPENED:
            more = say_count(
                "{count} more line is not shown. Run it again with its output in a file to see all of it.",
                "{count} more lines are not shown. Run it again with its output in a file to see all of them.",
                len(lines) - MOST_OPENED,
            )
            drawn.append(Text(f"{look.glyphs.more} {more}", look.style(Part.QUIET)))
        return Group(Text(visible(self.title), look.style(Part.STRONG)), Padding(Group(*drawn), (0, 0, 0, 2)))

    @property
    def _lines(self) -> Sequence[str]:
        return self.text.split("\n")

    def _drawn(self, line: str, look: Look, longest: int) -> Text:
        shown = line if len(line) <= longest else f"{line[:longest]}{look.glyphs.more}"
        part = _PART_OF_LINE.get(line[:1], Part.TEXT) if self.is_patch else Part.TEXT
        return Text(visible(shown), look.style(part), overflow="fold")


def _left_out(count: int, look: Look) -> str:
    told = say_count("{count} more line (Ctrl-O shows it)", "{count} more lines (Ctrl-O shows them)", count)
    return f"{look.glyphs.more} {told}"
