"""Wrapping of styled text by terminal columns."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from wcwidth import iter_graphemes

from tejat.ui.terminal.render.cells import text_width

StyledRun: TypeAlias = tuple[str, Style]
"""Sanitized text in one style."""
StyledLine: TypeAlias = list[StyledRun]

NO_STYLE = Style.null()


class WrappedLines:
    """Renderable whose lines are laid out when the width is known. Lines may exceed it."""

    def __init__(self, layout: Callable[[int], Iterable[StyledLine]]) -> None:
        self._layout = layout

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._layout(options.max_width):
            for text, style in line:
                yield Segment(text, style)
            yield Segment.line()


def wrap_runs(runs: Sequence[StyledRun], width: int, *, breaks_urls: bool = False) -> list[StyledLine]:
    """Wrap at blanks and between wide characters; newlines break too. Blanks at a break are dropped.

    Words that are too wide are broken, except URLs unless `breaks_urls`, so that they can be copied in one piece.
    """
    lines: list[StyledLine] = []
    for paragraph in _paragraphs(runs):
        text = "".join(part for part, _ in paragraph)
        if text_width(text) <= width:
            lines.append(paragraph)
        else:
            lines += _slice_runs(paragraph, _spans(text, width, breaks_urls=breaks_urls))
    return lines


def fold_line(line: Sequence[StyledRun], width: int) -> Iterator[StyledLine]:
    """Break the line wherever it is full, keeping all blanks."""
    part: StyledLine = []
    used = 0
    for text, style in line:
        for piece in [text] if used + text_width(text) <= width else iter_graphemes(text):
            columns = text_width(piece)
            if used + columns > width and part:
                yield part
                part, used = [], 0
            if part and part[-1][1] is style:
                part[-1] = (part[-1][0] + piece, style)
            else:
                part.append((piece, style))
            used += columns
    yield part


def prefix_lines(lines: Iterable[StyledLine], first: StyledLine, others: StyledLine) -> Iterator[StyledLine]:
    """Prefix the first line with `first`, the others with `others`."""
    prefix = first
    for line in lines:
        yield [*prefix, *line]
        prefix = others


def line_width(line: Iterable[StyledRun]) -> int:
    return sum(text_width(text) for text, _ in line)


def _paragraphs(runs: Sequence[StyledRun]) -> Iterator[StyledLine]:
    line: StyledLine = []
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


def _spans(text: str, width: int, *, breaks_urls: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line in the text."""
    start = end = 0
    used = 0
    for at, stop, columns in _atoms(text, width, breaks_urls=breaks_urls):
        gap = at - end
        if used + gap + columns > width:
            if end > start:
                yield start, end
            start, used, gap = at, 0, 0
        used += gap + columns
        end = stop
    if end > start:
        yield start, end


def _atoms(text: str, width: int, *, breaks_urls: bool) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and width of each unbreakable part."""
    for word in re.finditer("[^ ]+", text):
        found, at = word[0], word.start()
        columns = text_width(found)
        is_narrow = columns == len(found)
        if is_narrow and (columns <= width or (not breaks_urls and "://" in found)):
            yield at, word.end(), columns
            continue
        for part in _break_word(found, width):
            yield at, at + len(part), text_width(part)
            at += len(part)


# Closing punctuation does not begin a line, and opening punctuation does not end it.
_CLOSING = frozenset("、。，．）」』】〉》！？：；・ー々…”’)]},.!?:;")
_OPENING = frozenset("（「『【〈《“‘([{")


def _break_word(word: str, width: int) -> Iterator[str]:
    """Break a word with wide characters, or one that is too wide, into parts that fit."""
    part, used, was_wide = "", 0, False
    for grapheme in iter_graphemes(word):
        columns = text_width(grapheme)
        may_break = (was_wide or columns > 1) and grapheme not in _CLOSING and part[-1:] not in _OPENING
        if part and (used + columns > width or may_break):
            yield part
            part, used = "", 0
        part, used, was_wide = part + grapheme, used + columns, columns > 1
    if part:
        yield part


def _slice_runs(runs: Sequence[StyledRun], spans: Iterable[tuple[int, int]]) -> Iterator[StyledLine]:
    """Slice the runs at these spans of their joined text, given in order."""
    ordered = iter(runs)
    text, style = next(ordered, ("", NO_STYLE))
    offset = 0
    for start, end in spans:
        line: StyledLine = []
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
