"""What Markdown is made of: each piece can be drawn as soon as it is read."""

from typing import TypeAlias

from tejat.core.value import value
from tejat.frontends.terminal.tables import Alignment


@value
class Box:
    """A quote, or an item of a list with what stands before it. `indent` are the columns of what is in the item."""

    marker: str = ""
    indent: int = 0

    @property
    def is_quote(self) -> bool:
        return not self.indent


@value
class Heading:
    level: int
    text: str


@value
class Paragraph:
    lines: tuple[str, ...]


@value
class Markup:
    """HTML, which is shown as it stands."""

    lines: tuple[str, ...]


@value
class Code:
    """Lines of code, or a part of them, and what was said about them; `before` are lines that have been drawn."""

    lines: tuple[str, ...]
    said: str = ""
    before: tuple[str, ...] = ()
    is_first: bool = True
    is_last: bool = True

    @property
    def language(self) -> str:
        return self.said.partition(" ")[0]


@value
class Grid:
    """Rows of a table, or a part of them; by the rows of the first part the columns are measured."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alignments: tuple[Alignment, ...]
    first_rows: tuple[tuple[str, ...], ...] | None = None


@value
class Break:
    """A line between two themes."""


Leaf: TypeAlias = Heading | Paragraph | Markup | Code | Grid | Break


@value
class Piece:
    """Something to draw, the boxes around it, and how many of them have been begun by pieces before.

    `gap` is None where the piece follows closely, else the number of boxes around the blank line before it.
    """

    leaf: Leaf
    boxes: tuple[Box, ...] = ()
    begun: int = 0
    gap: int | None = None
