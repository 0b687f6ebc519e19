"""Rows that fit whatever room there is when they are drawn: one piece of each gives way to the others."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import translated
from tejat.frontends.terminal.flow import NO_STYLE, Lines, prefixed, wrapped
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import columns_of, cut, one_line, untabbed

_LEAST_LEFT = 12
"""Columns that the piece which gives way keeps at least."""


@value
class Piece:
    """Some words of a row. One that `gives_way` is cut first."""

    text: str
    part: Part = Part.TEXT
    gives_way: bool = False


class SingleRow:
    """Pieces beside each other in exactly one row, as wide as there is room when it is drawn."""

    def __init__(self, look: Look, *pieces: Piece) -> None:
        self._look = look
        self._pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield row_of(self._pieces, self._look, width=options.max_width)


def row_of(pieces: Sequence[Piece], look: Look, *, width: int) -> Text:
    """The pieces as one row that is no wider than this. Hidden characters are shown, line ends too."""
    shown = [one_line(piece.text) for piece in pieces]
    over = sum(map(columns_of, shown)) - width
    for place, piece in enumerate(pieces):
        if over > 0 and piece.gives_way:
            before = columns_of(shown[place])
            shown[place] = cut(shown[place], max(before - over, _LEAST_LEFT), look)
            over -= before - columns_of(shown[place])
    text = Text(no_wrap=True, overflow="crop", end="\n")
    left = width
    for piece, words in zip(pieces, shown, strict=True):
        kept = cut(words, left, look)
        text.append(kept, look.style(piece.part))
        left -= columns_of(kept)
    return text


def fits(pieces: Sequence[Piece], *, width: int) -> bool:
    return sum(columns_of(one_line(piece.text)) for piece in pieces) <= width


def hanging(mark: Piece, *pieces: Piece, look: Look) -> Lines:
    """A paragraph whose lines all stand to the right of its mark. Line ends in it are kept."""
    runs = [(_safe(piece.text), look.style(piece.part)) for piece in pieces]
    first = [(f"{mark.text} ", look.style(mark.part))]
    others = [(" " * (columns_of(mark.text) + 1), NO_STYLE)]
    return Lines(lambda width: prefixed(wrapped(runs, max(width - columns_of(mark.text) - 1, 1)), first, others))


def _safe(text: str) -> str:
    return "\n".join(untabbed(line) for line in visible(translated(text)).split("\n"))
