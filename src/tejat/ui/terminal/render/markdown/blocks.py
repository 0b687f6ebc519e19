"""Markdown blocks. Each can be drawn as soon as it is parsed."""

from typing import TypeAlias

from tejat.core.frozen import frozen
from tejat.ui.terminal.render.tables import ColumnAlignment


@frozen
class BlockContainer:
    """A block quote, or a list item with its marker. `indent` is the column of the item's content."""

    marker: str = ""
    indent: int = 0

    @property
    def is_quote(self) -> bool:
        return not self.indent


@frozen
class HeadingBlock:
    level: int
    text: str


@frozen
class ParagraphBlock:
    lines: tuple[str, ...]


@frozen
class HtmlBlock:
    """HTML, shown as text."""

    lines: tuple[str, ...]


@frozen
class CodeBlock:
    """Lines of code, or a part of them, with the info string; `before` are lines already drawn."""

    lines: tuple[str, ...]
    info: str = ""
    before: tuple[str, ...] = ()
    is_first: bool = True
    is_last: bool = True

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]


@frozen
class TableBlock:
    """Table rows, or a part of them; the columns are measured by `first_rows`."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alignments: tuple[ColumnAlignment, ...]
    first_rows: tuple[tuple[str, ...], ...] | None = None


@frozen
class ThematicBreak:
    """A thematic break."""


LeafBlock: TypeAlias = HeadingBlock | ParagraphBlock | HtmlBlock | CodeBlock | TableBlock | ThematicBreak


@frozen
class BlockNode:
    """A leaf block in its containers, of which the first `emitted_containers` were begun by earlier nodes.

    `gap` is the number of containers around the blank line before it, None without one.
    """

    leaf: LeafBlock
    containers: tuple[BlockContainer, ...] = ()
    emitted_containers: int = 0
    gap: int | None = None
