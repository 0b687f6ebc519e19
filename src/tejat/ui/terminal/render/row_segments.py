"""Rows of segments that shrink to the available width."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tejat.core.frozen import Frozen
from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.text.sanitizer import escape_typed
from tejat.ui.terminal.render.text_rows import display_width, expand_tabs, single_line, truncate
from tejat.ui.terminal.render.text_wrap import NO_STYLE, WrappedLines, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MIN_SEGMENT_COLUMNS = 12
"""Least columns of a shrunk segment."""


class RowSegment(Frozen):
    """Part of a row. Those that are `is_shrinkable` are truncated first; text that `is_typed` keeps joined emoji."""

    text: str
    role: StyleRole = StyleRole.TEXT
    is_shrinkable: bool = False
    is_typed: bool = False


class SingleRow:
    """Segments in exactly one row, fitted to the width when drawn."""

    def __init__(self, theme: Theme, *segments: RowSegment) -> None:
        self._theme = theme
        self._segments = segments

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield render_row(self._segments, self._theme, width=options.max_width)


def render_row(segments: Sequence[RowSegment], theme: Theme, *, width: int) -> Text:
    """Render the segments as one row within `width`. Hidden characters and newlines are escaped."""
    shown = [single_line(piece.text) for piece in segments]
    over = sum(map(display_width, shown)) - width
    for place, piece in enumerate(segments):
        if over > 0 and piece.is_shrinkable:
            before = display_width(shown[place])
            shown[place] = truncate(shown[place], max(before - over, _MIN_SEGMENT_COLUMNS), theme)
            over -= before - display_width(shown[place])
    text = Text(no_wrap=True, overflow="crop", end="\n")
    left = width
    for piece, words in zip(segments, shown, strict=True):
        kept = truncate(words, left, theme)
        text.append(kept, theme.style(piece.role))
        left -= display_width(kept)
    return text


def segments_fit(segments: Sequence[RowSegment], *, width: int) -> bool:
    return sum(display_width(single_line(piece.text)) for piece in segments) <= width


def hanging_paragraph(mark: RowSegment, *segments: RowSegment, theme: Theme) -> WrappedLines:
    """Return a paragraph indented to the right of its mark. Newlines are kept."""
    runs = [(_sanitize_lines(piece), theme.style(piece.role)) for piece in segments]
    first = [(f"{mark.text} ", theme.style(mark.role))]
    indent = display_width(mark.text) + 1
    others = [(" " * indent, NO_STYLE)]
    return WrappedLines(lambda width: prefix_lines(wrap_runs(runs, max(width - indent, 1)), first, others))


def _sanitize_lines(piece: RowSegment) -> str:
    text = escape_typed(piece.text) if piece.is_typed else sanitize_text(translate(piece.text))
    return "\n".join(expand_tabs(line) for line in text.split("\n"))
