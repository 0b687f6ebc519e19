"""Styled text laid out in lines of a width, as wide as terminals draw it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from wcwidth import iter_graphemes

from tejat.frontends.terminal.cells import width_of

Run: TypeAlias = tuple[str, Style]
"""Safe text in one style."""
Line: TypeAlias = list[Run]

NO_STYLE = Style.null()


class Lines:
    """A renderable of lines that are laid out when the width is known. Lines may come out wider, never narrower."""

    def __init__(self, layout: Callable[[int], Iterable[Line]]) -> None:
        self._layout = layout

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._layout(options.max_width):
            for text, style in line:
                yield Segment(text, style)
            yield Segment.line()


def wrapped(runs: Sequence[Run], width: int, *, cuts_addresses: bool = False) -> list[Line]:
    """Lines broken at blanks and between wide characters; a newline breaks too. The blanks of a break are dropped.

    A word that is too wide is cut, except an address, if it need not be: whoever copies it wants it in one piece.
    """
    lines: list[Line] = []
    for paragraph in _paragraphs(runs):
        text = "".join(part for part, _ in paragraph)
        if width_of(text) <= width:
            lines.append(paragraph)
        else:
            lines += _sliced(paragraph, _spans(text, width, cuts_addresses=cuts_addresses))
    return lines


def folded(line: Sequence[Run], width: int) -> Iterator[Line]:
    """The line cut wherever it is full, with all of its blanks."""
    part: Line = []
    used = 0
    for text, style in line:
        for piece in [text] if used + width_of(text) <= width else iter_graphemes(text):
            columns = width_of(piece)
            if used + columns > width and part:
                yield part
                part, used = [], 0
            if part and part[-1][1] is style:
                part[-1] = (part[-1][0] + piece, style)
            else:
                part.append((piece, style))
            used += columns
    yield part


def prefixed(lines: Iterable[Line], first: Line, others: Line) -> Iterator[Line]:
    """The lines with something before the first of them, and something else before the others."""
    prefix = first
    for line in lines:
        yield [*prefix, *line]
        prefix = others


def line_width(line: Iterable[Run]) -> int:
    return sum(width_of(text) for text, _ in line)


def _paragraphs(runs: Sequence[Run]) -> Iterator[Line]:
    line: Line = []
    for text, style in runs:
        if "\n" not in text:
            line.append((text, style))
            continue
        first, *others = text.split("\n")
        line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)]
    yield line


def _spans(text: str, width: int, *, cuts_addresses: bool) -> Iterator[tuple[int, int]]:
    """Where each line starts and ends in the text."""
    start = end = 0
    used = 0
    for at, stop, columns in _atoms(text, width, cuts_addresses=cuts_addresses):
        gap = at - end
        if used + gap + columns > width:
            if end > start:
                yield start, end
            start, used, gap = at, 0, 0
        used += gap + columns
        end = stop
    if end > start:
        yield start, end


def _atoms(text: str, width: int, *, cuts_addresses: bool) -> Iterator[tuple[int, int, int]]:
    """Parts that stay on one line, from where to where, and how wide."""
    for word in re.finditer("[^ ]+", text):
        found, at = word[0], word.start()
        columns = width_of(found)
        is_narrow = columns == len(found)
        if is_narrow and (columns <= width or (not cuts_addresses and "://" in found)):
            yield at, word.end(), columns
            continue
        for part in _parts(found, width):
            yield at, at + len(part), width_of(part)
            at += len(part)


# Closing signs do not begin a line, and opening ones do not end it.
_CLOSING = frozenset("、。，．）」』】〉》！？：；・ー々…”’)]},.!?:;")
_OPENING = frozenset("（「『【〈《“‘([{")


def _parts(word: str, width: int) -> Iterator[str]:
    """A word with wide characters, or one that is too wide, in parts that fit."""
    part, used, was_wide = "", 0, False
    for grapheme in iter_graphemes(word):
        columns = width_of(grapheme)
        may_break = (was_wide or columns > 1) and grapheme not in _CLOSING and part[-1:] not in _OPENING
        if part and (used + columns > width or may_break):
            yield part
            part, used = "", 0
        part, used, was_wide = part + grapheme, used + columns, columns > 1
    if part:
        yield part


def _sliced(runs: Sequence[Run], spans: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """The runs between these places of their joined text, which come in order."""
    ordered = iter(runs)
    text, style = next(ordered, ("", NO_STYLE))
    offset = 0
    for start, end in spans:
        line: Line = []
        while True:
            part = text[max(start - offset, 0) : end - offset]
            if part:
                line.append((part, style))
            if offset + len(text) > end:
                break
            offset += len(text)
            following = next(ordered, None)
            if following is None:
                text, style = "", NO_STYLE
                break
            text, style = following
        yield line
