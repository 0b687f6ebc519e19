"""A unified diff on the screen, with everything in it that an eye would miss."""

import re
from collections.abc import Iterable, Iterator

from rich.console import RenderableType

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say_count
from tejat.frontends.terminal.flow import Line, Lines, folded, line_width, prefixed
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.safe_text import TAB


@value
class Hunk:
    """Lines that changed together, with their signs: the line with `@@` before them, and before that names of files."""

    names: tuple[str, ...]
    heading: str
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)


def draw_patch(patch: str, look: Look, *, most_lines: int | None = None) -> RenderableType:
    """All of a diff, or as many whole hunks as have room in so many lines and a count of the rest.

    Of a first hunk that has no room the beginning is shown.
    """
    hunks = hunks_of(patch)
    shown = len(hunks) if most_lines is None else _fitting(hunks, most_lines)

    def layout(width: int) -> Iterator[Line]:
        for hunk in hunks[:shown]:
            lines = hunk.lines[:most_lines]
            yield from _drawn((_name(name, look) for name in hunk.names), look, width)
            yield from _drawn((_line(line, look) for line in (hunk.heading, *lines) if line), look, width)
            if len(lines) < len(hunk.lines):
                yield _aside(say_count("{count} more line", "{count} more lines", len(hunk.lines) - len(lines)), look)
        if shown < len(hunks):
            yield _aside(_counted(hunks[shown:]), look)

    return Lines(layout)


def hunks_of(patch: str) -> tuple[Hunk, ...]:
    """The hunks of all files in a diff, in order. What does not belong to any is among the names of the next."""
    hunks: list[Hunk] = []
    names, lines = list[str](), list[str]()
    heading = ""
    old = new = 0
    for line in [*patch.removesuffix("\n").split("\n"), "@@"]:
        sign = line[:1]
        if heading and (sign == "\\" or (old > 0 and sign in "- ") or (new > 0 and sign in "+ ")):
            lines.append(line)
            old -= sign != "+"
            new -= sign != "-"
            continue
        if heading:
            hunks.append(Hunk(tuple(names), heading, tuple(lines)))
            names, lines, heading = [], [], ""
        if line.startswith("@@"):
            counts = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
            heading = line
            old, new = (int(count or 1) for count in counts.groups()) if counts else (0, 0)
        else:
            names.append(line)
    if names:
        hunks.append(Hunk(tuple(names), "", ()))
    return tuple(hunks)


def _fitting(hunks: tuple[Hunk, ...], most_lines: int) -> int:
    used = 0
    for number, hunk in enumerate(hunks):
        used += len(hunk.lines) + 1
        if used > most_lines:
            return max(number, 1)
    return len(hunks)


def _counted(rest: tuple[Hunk, ...]) -> str:
    return say_count(
        "{count} more place, +{added} -{removed}",
        "{count} more places, +{added} -{removed}",
        len(rest),
        added=sum(hunk.added for hunk in rest),
        removed=sum(hunk.removed for hunk in rest),
    )


def _aside(words: str, look: Look) -> Line:
    return [(f"{look.glyphs.more} {words}", look.style(Part.QUIET))]


def _drawn(lines: Iterable[Line], look: Look, width: int) -> Iterator[Line]:
    """A line that goes on has a mark where signs stand."""
    mark = [(look.glyphs.more, look.style(Part.QUIET))]
    for line in lines:
        yield from [line] if line_width(line) <= width else prefixed(folded(line, max(width - 1, 1)), [], mark)


_PARTS = {"+": Part.ADDED, "-": Part.REMOVED, "@": Part.HUNK, "\\": Part.QUIET}


def _name(line: str, look: Look) -> Line:
    return [(visible(line).expandtabs(TAB), look.style(Part.STRONG))]


def _line(line: str, look: Look) -> Line:
    style = look.style(_PARTS.get(line[:1], Part.TEXT))
    if not line.startswith(("+", "-")):
        return [(visible(line).expandtabs(TAB), style)]
    text = visible(line)
    words = text[0] + text[1:].rstrip(" \t")
    marked = style + look.style(Part.SELECTED)
    drawn: Line = []
    column = -1  # the sign stands before the first
    for part in re.split("(\t)", words):
        shown = _tab(column, look) if part == "\t" else part
        drawn.append((shown, look.style(Part.QUIET) if part == "\t" else style))
        column += len(shown)
    for blank in text[len(words) :]:
        shown = _tab(column, look) if blank == "\t" else look.glyphs.blank
        drawn.append((shown, marked))
        column += len(shown)
    return [run for run in drawn if run[0]]


def _tab(column: int, look: Look) -> str:
    return look.glyphs.arrow + " " * (TAB - 1 - column % TAB)
