"""Long results: a few lines of them in the scrollback, the whole when somebody asks for it."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding

from tejat.core.value import value
from tejat.core.words import say, say_count
from tejat.frontends.terminal.flow import NO_STYLE, Line, Lines, folded, prefixed
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.patch import draw_patch
from tejat.frontends.terminal.rows import one_line

MOST_OPENED = 2000
"""Lines of one result that are shown when it is opened."""

_FIRST, _LAST = 3, 5
_MOST_CHANGED = 20
_LONGEST_FOLDED, _LONGEST_OPENED = 400, 4000
_INDENT = "  "


@value
class Folded:
    """A text under a title; `is_patch` says that its lines are those of a diff."""

    title: str
    text: str
    is_patch: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is left out when it is folded."""
        lines = self.text.split("\n")
        room = _MOST_CHANGED if self.is_patch else _FIRST + _LAST
        return len(lines) <= room and all(len(line) <= _LONGEST_FOLDED for line in lines)

    def beginning(self, most: int) -> tuple[str, str]:
        """So many lines of it, none of them too long, and words for what is left out."""
        lines = self.text.split("\n")
        shown = "\n".join(line[:_LONGEST_FOLDED] for line in lines[:most])
        return shown, _left_out(len(lines) - most) if len(lines) > most else say("(Ctrl-O shows all of it)")

    def closed(self, look: Look) -> RenderableType:
        """The first and the last lines, of a change the first ones, and how many are left out."""
        lines = _bounded(self.text.split("\n"), _LONGEST_FOLDED, look)
        if self.is_patch:
            drawn = Padding(draw_patch("\n".join(lines), look, most_lines=_MOST_CHANGED), (0, 0, 0, len(_INDENT)))
            return drawn if self.is_whole else Group(drawn, _quiet(say("(Ctrl-O shows all of it)"), look))
        left_out = len(lines) - _FIRST - _LAST
        if left_out <= 0:
            drawn = _text(lines)
            return drawn if self.is_whole else Group(drawn, _quiet(say("(Ctrl-O shows all of it)"), look))
        return Group(
            _text(lines[:_FIRST]),
            _quiet(f"{look.glyphs.more} {_left_out(left_out)}", look),
            _text(lines[-_LAST:]),
        )

    def opened(self, look: Look) -> RenderableType:
        """All of it, as far as anybody would scroll."""
        lines = self.text.split("\n")
        shown = _bounded(lines[:MOST_OPENED], _LONGEST_OPENED, look)
        body = Padding(draw_patch("\n".join(shown), look), (0, 0, 0, 2)) if self.is_patch else _text(shown)
        title = Lines(lambda width: folded([(one_line(self.title), look.style(Part.STRONG))], width))
        if len(lines) <= MOST_OPENED:
            return Group(title, body)
        more = say_count(
            "{count} more line is not shown. Run it again with its output in a file to see all of it.",
            "{count} more lines are not shown. Run it again with its output in a file to see all of them.",
            len(lines) - MOST_OPENED,
        )
        return Group(title, body, _quiet(f"{look.glyphs.more} {more}", look))


def _left_out(count: int) -> str:
    return say_count("{count} more line (Ctrl-O shows it)", "{count} more lines (Ctrl-O shows them)", count)


def _bounded(lines: list[str], longest: int, look: Look) -> list[str]:
    return [line if len(line) <= longest else f"{line[:longest]}{look.glyphs.more}" for line in lines]


def _text(lines: list[str]) -> RenderableType:
    """Lines just as they are, broken where there is no more room."""

    def layout(width: int) -> Iterator[Line]:
        start: Line = [(_INDENT, NO_STYLE)]
        for line in lines:
            yield from prefixed(folded([(one_line(line), NO_STYLE)], max(width - len(_INDENT), 1)), start, start)

    return Lines(layout)


def _quiet(words: str, look: Look) -> RenderableType:
    return Lines(lambda width: folded([(f"{_INDENT}{words}", look.style(Part.QUIET))], width))
