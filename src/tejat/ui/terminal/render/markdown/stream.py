"""Streaming Markdown: finished blocks are printed once, the open one is redrawn."""

from rich.console import Group, RenderableType

from tejat.core.frozen import replace
from tejat.ui.shared.text.sanitizer import TerminalSanitizer
from tejat.ui.terminal.render.markdown.block_parser import MAX_LINE_CHARS, BlockParser
from tejat.ui.terminal.render.markdown.blocks import BlockNode, HtmlBlock, ParagraphBlock, TableBlock
from tejat.ui.terminal.render.markdown.renderer import render_block
from tejat.ui.terminal.render.theme import Theme


def render_markdown(text: str, theme: Theme) -> RenderableType:
    """Render a complete text."""
    stream = MarkdownStream(theme)
    return Group(*stream.feed(text), *stream.finish())


class MarkdownStream:
    """Stream of one answer. Chunk boundaries make no difference to the output.

    `feed` takes time linear in the chunk, and memory is bounded: endless lines, paragraphs, tables and code are emitted
    in parts.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.reset()

    def reset(self) -> None:
        """Drop the open block, for a retracted answer."""
        self._sanitizer = TerminalSanitizer()
        self._blocks = BlockParser()
        self._rest = ""
        self._is_continuation = False

    def feed(self, text: str) -> list[RenderableType]:
        """Return the blocks that are finished now, to be printed once."""
        self._rest += self._sanitizer.feed(text)
        return self._render(self._complete_lines())

    def pending(self) -> RenderableType | None:
        """Return the tail of the unfinished block for redrawing, None if there is none."""
        blocks = self._blocks.clone()
        pieces: list[BlockNode] = []
        if self._rest:
            is_continuation = self._is_continuation or len(self._rest) > _MAX_PENDING_CHARS
            pieces += blocks.feed_line(self._rest[-_MAX_PENDING_CHARS:], is_continuation=is_continuation)
        pieces += blocks.finish()
        return Group(*self._render([_tail(piece) for piece in pieces])) if pieces else None

    def finish(self) -> list[RenderableType]:
        """Return the rest and reset for the next answer."""
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
            is_whole = end >= 0
            if not is_whole:
                if len(self._rest) - start < MAX_LINE_CHARS:
                    self._rest = self._rest[start:]
                    return pieces
                blank = self._rest.rfind(" ", start + MAX_LINE_CHARS // 2, start + MAX_LINE_CHARS)
                end = blank if blank >= 0 else start + MAX_LINE_CHARS
            pieces += self._blocks.feed_line(self._rest[start:end], is_continuation=self._is_continuation)
            self._is_continuation = not is_whole
            start = end + 1 if is_whole else end

    def _render(self, pieces: list[BlockNode]) -> list[RenderableType]:
        return [render_block(piece, self.theme) for piece in pieces]


_MAX_PENDING_CHARS = 4_000
_MAX_PENDING_ROWS = 40


def _tail(piece: BlockNode) -> BlockNode:
    """Return as much of a block as may fit on a screen."""
    match piece.leaf:
        case ParagraphBlock(lines) | HtmlBlock(lines) if sum(map(len, lines)) > _MAX_PENDING_CHARS:
            return replace(piece, leaf=type(piece.leaf)(("\n".join(lines)[-_MAX_PENDING_CHARS:],)))
        case TableBlock(rows=rows) as grid if len(rows) > _MAX_PENDING_ROWS:
            return replace(piece, leaf=replace(grid, rows=rows[-_MAX_PENDING_ROWS:]))
        case _:
            return piece
