"""What Markdown is made of: each piece can be drawn as soon as it is read."""

from typing import TypeAlias

from tejat.core.frozen import frozen
from tejat.ui.terminal.render.tables import ColumnAlignment


@frozen
class BlockContainer:
    """A quote, or an item of a list with what stands before it. `indent` are the columns of what is in the item."""

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
    """HTML, which is shown as it stands."""

    lines: tuple[str, ...]


@frozen
class CodeBlock:
    """Lines of code, or a part of them, and what was said about them; `before` are lines that have been drawn."""

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
    """Rows of a table, or a part of them; by the rows of the first part the columns are measured."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alignments: tuple[ColumnAlignment, ...]
    first_rows: tuple[tuple[str, ...], ...] | None = None


@frozen
class ThematicBreak:
    """A line between two themes."""


LeafBlock: TypeAlias = HeadingBlock | ParagraphBlock | HtmlBlock | CodeBlock | TableBlock | ThematicBreak


@frozen
class BlockNode:
    """Something to draw, the boxes around it, and how many of them have been begun by pieces before.

    `gap` is None where the piece follows closely, else the number of boxes around the blank line before it.
    """

    leaf: LeafBlock
    containers: tuple[BlockContainer, ...] = ()
    emitted_containers: int = 0
    gap: int | None = None
