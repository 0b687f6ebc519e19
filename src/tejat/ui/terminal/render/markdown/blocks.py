"""Markdown blocks. Each can be drawn as soon as it is parsed."""

from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.ui.terminal.render.tables import ColumnAlignment


class BlockContainer(Frozen):
    """A block quote, or a list item with its marker. `indent` is the column of the item's content."""

    marker: str = ""
    indent: int = 0

    @property
    def is_quote(self) -> bool:
        return not self.indent


class HeadingBlock(Frozen):
    level: int
    text: str


class ParagraphBlock(Frozen):
    lines: tuple[str, ...]


class HtmlBlock(Frozen):
    """HTML, shown as text."""

    lines: tuple[str, ...]


class CodeBlock(Frozen):
    """Lines of code, or a part of them, with the info string; `before` are lines already drawn."""

    lines: tuple[str, ...]
    info: str = ""
    before: tuple[str, ...] = ()
    is_first: bool = True
    is_last: bool = True

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]


class TableBlock(Frozen):
    """Table rows, or a part of them; the columns are measured by `first_rows`."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alignments: tuple[ColumnAlignment, ...]
    first_rows: tuple[tuple[str, ...], ...] | None = None


class ThematicBreak(Frozen):
    """A thematic break."""


LeafBlock: TypeAlias = HeadingBlock | ParagraphBlock | HtmlBlock | CodeBlock | TableBlock | ThematicBreak


class BlockNode(Frozen):
    """A leaf block in its containers, of which the first `emitted_containers` were begun by earlier nodes.

    `gap` is the number of containers around the blank line before it, None without one.
    """

    leaf: LeafBlock
    containers: tuple[BlockContainer, ...] = ()
    emitted_containers: int = 0
    gap: int | None = None
