"""Markdown as it streams in: what is finished is printed once, what is open is drawn anew."""

from rich.console import Group, RenderableType

from tejat.core.value import replace
from tejat.frontends.terminal.look import Look
from tejat.frontends.terminal.markdown import draw_piece, draw_pieces
from tejat.frontends.terminal.markdown_blocks import LONGEST_LINE, Blocks
from tejat.frontends.terminal.markdown_pieces import Grid, Markup, Paragraph, Piece
from tejat.frontends.terminal.safe_text import SafeText


def draw_markdown(text: str, look: Look) -> RenderableType:
    """A whole text."""
    stream = MarkdownStream(look)
    return Group(*stream.feed(text), *stream.finish())


class MarkdownStream:
    """One answer. How it is cut into chunks makes no difference to what is printed.

    `feed` costs as much as its chunk is long, and what is remembered is bounded, whatever comes: lines, paragraphs,
    tables and code that have no end are passed on in parts.
    """

    def __init__(self, look: Look) -> None:
        self.look = look
        self.reset()

    def reset(self) -> None:
        """Forget what is open: an answer was taken back."""
        self._gate = SafeText()
        self._blocks = Blocks()
        self._rest = ""
        self._goes_on = False

    def feed(self, text: str) -> list[RenderableType]:
        """The pieces that are finished now, to be printed once."""
        self._rest += self._gate.feed(text)
        return self._drawn(self._complete_lines())

    def open(self) -> RenderableType | None:
        """What is not finished, to be drawn for now; of a lot, the last part. None where there is nothing."""
        blocks = self._blocks.copied()
        pieces = (
            blocks.line(self._rest[-_SHOWN:], goes_on=self._goes_on or len(self._rest) > _SHOWN) if self._rest else []
        )
        pieces = [*pieces, *blocks.finish()]
        return draw_pieces(map(_last_part, pieces), self.look) if pieces else None

    def finish(self) -> list[RenderableType]:
        """The rest. Then the next answer may begin."""
        self._rest += self._gate.finish()
        pieces = self._complete_lines()
        if self._rest:
            pieces += self._blocks.line(self._rest, goes_on=self._goes_on)
        pieces += self._blocks.finish()
        self.reset()
        return self._drawn(pieces)

    def _complete_lines(self) -> list[Piece]:
        pieces: list[Piece] = []
        start = 0
        while True:
            end = self._rest.find("\n", start, start + LONGEST_LINE)
            if end >= 0:
                pieces += self._blocks.line(self._rest[start:end], goes_on=self._goes_on)
                self._goes_on = False
                start = end + 1
            elif len(self._rest) - start >= LONGEST_LINE:
                blank = self._rest.rfind(" ", start + LONGEST_LINE // 2, start + LONGEST_LINE)
                end = blank if blank >= 0 else start + LONGEST_LINE
                pieces += self._blocks.line(self._rest[start:end], goes_on=self._goes_on)
                self._goes_on = True
                start = end
            else:
                self._rest = self._rest[start:]
                return pieces

    def _drawn(self, pieces: list[Piece]) -> list[RenderableType]:
        return [draw_piece(piece, self.look) for piece in pieces]


_SHOWN = 4_000
_SHOWN_ROWS = 40


def _last_part(piece: Piece) -> Piece:
    """As much as could be on a screen."""
    match piece.leaf:
        case Paragraph(lines) | Markup(lines) if sum(map(len, lines)) > _SHOWN:
            return replace(piece, leaf=type(piece.leaf)(("\n".join(lines)[-_SHOWN:],)))
        case Grid(rows=rows) as grid if len(rows) > _SHOWN_ROWS:
            return replace(piece, leaf=replace(grid, rows=rows[-_SHOWN_ROWS:]))
        case _:
            return piece
