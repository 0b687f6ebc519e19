"""Markdown as it streams in: what is finished is printed once, what is open is drawn anew."""

from rich.console import Group, RenderableType

from tejat.core.frozen import replace
from tejat.ui.terminal.render.markdown.block_parser import MAX_LINE_CHARS, BlockParser
from tejat.ui.terminal.render.markdown.blocks import BlockNode, HtmlBlock, ParagraphBlock, TableBlock
from tejat.ui.terminal.render.markdown.renderer import render_block, render_blocks
from tejat.ui.terminal.render.sanitizer import TerminalSanitizer
from tejat.ui.terminal.render.theme import Theme


def render_markdown(text: str, theme: Theme) -> RenderableType:
    """A whole text."""
    stream = MarkdownStream(theme)
    return Group(*stream.feed(text), *stream.finish())


class MarkdownStream:
    """One answer. How it is cut into chunks makes no difference to what is printed.

    `feed` costs as much as its chunk is long, and what is remembered is bounded, whatever comes: lines, paragraphs,
    tables and code that have no end are passed on in parts.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.reset()

    def reset(self) -> None:
        """Forget what is open: an answer was taken back."""
        self._sanitizer = TerminalSanitizer()
        self._blocks = BlockParser()
        self._rest = ""
        self._is_continuation = False

    def feed(self, text: str) -> list[RenderableType]:
        """The pieces that are finished now, to be printed once."""
        self._rest += self._sanitizer.feed(text)
        return self._render(self._complete_lines())

    def pending(self) -> RenderableType | None:
        """What is not finished, to be drawn for now; of a lot, the last part. None where there is nothing."""
        blocks = self._blocks.clone()
        pieces = (
            blocks.feed_line(
                self._rest[-_MAX_PENDING_CHARS:],
                is_continuation=self._is_continuation or len(self._rest) > _MAX_PENDING_CHARS,
            )
            if self._rest
            else []
        )
        pieces = [*pieces, *blocks.finish()]
        return render_blocks(map(_tail, pieces), self.theme) if pieces else None

    def finish(self) -> list[RenderableType]:
        """The rest. Then the next answer may begin."""
        self._rest += self._sanitizer.finish()
        pieces = self._complete_lines()
        if self._rest:
            pieces += self._blocks.feed_line(self._rest, is_continuation=self._is_continuation)
        pieces += self._blocks.finish()
        self.reset()
        return self._render(pieces)

    def _complete_lines(self) -> list[BlockNode]:
        pieces: list[BlockNode] = []
        start = 0
        while True:
            end = self._rest.find("\n", start, start + MAX_LINE_CHARS)
            if end >= 0:
                pieces += self._blocks.feed_line(self._rest[start:end], is_continuation=self._is_continuation)
                self._is_continuation = False
                start = end + 1
            elif len(self._rest) - start >= MAX_LINE_CHARS:
                blank = self._rest.rfind(" ", start + MAX_LINE_CHARS // 2, start + MAX_LINE_CHARS)
                end = blank if blank >= 0 else start + MAX_LINE_CHARS
                pieces += self._blocks.feed_line(self._rest[start:end], is_continuation=self._is_continuation)
                self._is_continuation = True
                start = end
            else:
                self._rest = self._rest[start:]
                return pieces

    def _render(self, pieces: list[BlockNode]) -> list[RenderableType]:
        return [render_block(piece, self.theme) for piece in pieces]


_MAX_PENDING_CHARS = 4_000
_MAX_PENDING_ROWS = 40


def _tail(piece: BlockNode) -> BlockNode:
    """As much as could be on a screen."""
    match piece.leaf:
        case ParagraphBlock(lines) | HtmlBlock(lines) if sum(map(len, lines)) > _MAX_PENDING_CHARS:
            return replace(piece, leaf=type(piece.leaf)(("\n".join(lines)[-_MAX_PENDING_CHARS:],)))
        case TableBlock(rows=rows) as grid if len(rows) > _MAX_PENDING_ROWS:
            return replace(piece, leaf=replace(grid, rows=rows[-_MAX_PENDING_ROWS:]))
        case _:
            return piece
