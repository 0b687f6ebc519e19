"""Blocks of the transcript, separated by blank lines."""

from typing import Protocol

from rich.console import RenderableType
from rich.text import Text

from tejat.core.text.str_enum import StrEnum
from tejat.ui.terminal.render.theme import Theme


class TranscriptScreen(Protocol):
    """The part of the screen that a transcript needs."""

    @property
    def theme(self) -> Theme: ...

    @property
    def height(self) -> int: ...

    def print(self, *renderables: RenderableType) -> None: ...

    def set_live(self, renderable: RenderableType | None, /) -> None: ...

    def show_hint(self, text: str) -> None: ...


class BlockKind(StrEnum):
    """Kind of a printed block."""

    PROMPT = "prompt"
    OUTPUT = "output"
    TEXT = "text"
    CALL = "call"
    NOTE = "note"
    REPORT = "report"


class BlockPrinter:
    """Prints blocks with a blank line between them, except between notes, parts of a text and calls of one line."""

    def __init__(self, screen: TranscriptScreen) -> None:
        self._screen = screen
        self._last: BlockKind | None = None
        self._last_is_tall = False

    def print(self, kind: BlockKind, *blocks: RenderableType, is_tall: bool = False) -> None:
        """Print the blocks of one kind. A tall block stands apart from its own kind too."""
        is_apart = self.is_apart(kind, is_tall=is_tall)
        self._last, self._last_is_tall = kind, is_tall
        self._screen.print(*([Text("")] if is_apart else []), *blocks)

    def is_apart(self, kind: BlockKind, *, is_tall: bool = False) -> bool:
        """Whether a blank line would come before a block of this kind."""
        if self._last is None or (kind is BlockKind.OUTPUT and self._last is BlockKind.PROMPT):
            return False
        return kind is not self._last or kind in _SEPARATED_KINDS or is_tall or self._last_is_tall


_SEPARATED_KINDS = frozenset({BlockKind.PROMPT, BlockKind.REPORT})
"""Kinds that are separated even from their own kind."""
