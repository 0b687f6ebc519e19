"""A question in plain lines: all of it, wrapped and never cut, no line that could pass for one of ours."""

import unicodedata
from collections.abc import Iterator

from tejat.cli.style import Style
from tejat.frontends.questions.lines import SAME_LINE, Line, LineKind
from tejat.frontends.questions.sheet import QuestionSheet

LEAST_WIDTH = 20
USUAL_WIDTH = 80


def question_lines(sheet: QuestionSheet, style: Style, *, width: int) -> list[str]:
    """Everything that there is to know before an answer, what would be done last, right above the answers."""
    width = max(width, LEAST_WIDTH)
    lines = [style.bold(line) for line in wrapped(sheet.heading, width=width)]
    for fact in sheet.facts:
        lines += wrapped(fact.text, width=width)
    for line in (*sheet.told, *sheet.body):
        lines += (_styled(line, piece, style) for piece in wrapped(line.text, width=width, first=line.mark))
    return lines


def wrapped(text: str, *, width: int, first: str = "") -> Iterator[str]:
    """One line in pieces that fit: the first begins with `first`, the others with the mark of a line that goes on."""
    if len(first) + len(text) <= width and text.isascii() and "\t" not in text:
        yield first + text
        return
    piece, room = first, width - len(first)
    for character in text:
        columns = _columns(character)
        if columns > room:
            yield piece
            piece, room = SAME_LINE, width - len(SAME_LINE)
        piece += character
        room -= columns
    yield piece


def _styled(line: Line, piece: str, style: Style) -> str:
    match line.kind:
        case LineKind.COMMAND | LineKind.COMMAND_GOES_ON:
            return style.bold(piece)
        case LineKind.ADDED | LineKind.REMOVED | LineKind.HUNK:
            return style.diff(piece)
        case LineKind.CONTEXT | LineKind.SAID | LineKind.LABEL:
            return piece


def _columns(character: str) -> int:
    if character == "\t":
        return 8
    return 2 if character > "\u02ff" and unicodedata.east_asian_width(character) in "WF" else 1
