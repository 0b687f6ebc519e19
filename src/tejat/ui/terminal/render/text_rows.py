"""Rows of sanitized text for dialogs, wrapped without losing anything."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text
from wcwidth import iter_graphemes

from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_line
from tejat.core.text.column_wrap import wrap_columns
from tejat.ui.terminal.render.cells import text_width
from tejat.ui.terminal.render.theme import StyleRole, Theme

StyledText = tuple[str, StyleRole]
"""Sanitized text without newlines, and its role."""

_TAB_WIDTH = 8


def styled_row(theme: Theme, *pieces: StyledText) -> Text:
    """Return a row that is drawn neither wrapped nor truncated."""
    row = Text(no_wrap=True, overflow="ignore", end="")
    for text, part in pieces:
        row.append(text, theme.style(part))
    return row


def styled_rows(theme: Theme, rows: Iterable[str], role: StyleRole) -> list[Text]:
    """Return rows of one role each."""
    return [styled_row(theme, (row, role)) for row in rows]


def truncated_row(theme: Theme, text: str, role: StyleRole, width: int) -> Text:
    """Return a row with the part of the text that fits."""
    return styled_row(theme, (truncate(text, width, theme), role))


def fold_row(row: Text, width: int) -> list[Text]:
    """Break a row wherever it is full, keeping everything."""
    if display_width(row.plain) <= width:
        return [row]
    cuts: list[int] = []
    at = used = 0
    for piece in iter_graphemes(row.plain):
        columns = text_width(piece)
        if used + columns > width and used:
            cuts.append(at)
            used = 0
        at += len(piece)
        used += columns
    return list(row.divide(cuts))


def stack_rows(rows: Sequence[Text]) -> Group:
    """Return the rows as lines."""
    lines = [row.copy() for row in rows]
    for line in lines:
        line.end = "\n"
    return Group(*lines)


def single_line(text: str) -> str:
    """Sanitize third-party text for one row."""
    return expand_tabs(sanitize_line(translate(text), keep_tabs=True))


def expand_tabs(text: str) -> str:
    """Replace the tabs of a sanitized text by blanks."""
    if "\t" not in text:
        return text
    done = ""
    for at, piece in enumerate(text.split("\t")):
        done += " " * (_TAB_WIDTH - display_width(done) % _TAB_WIDTH) + piece if at else piece
    return done


def display_width(text: str) -> int:
    """Return the columns by the larger of the two width tables in use, so that nothing is truncated."""
    return len(text) if text.isascii() else max(text_width(text), cell_len(text))


def wrap_text(text: str, *, width: int, first: str = "", rest: str = "", at_blanks: bool = False) -> list[str]:
    """Wrap a sanitized text at the width, keeping every character. Rows begin with `first` and `rest`.

    `at_blanks` breaks after a blank if there is one in the second half of the row.
    """
    return wrap_columns(
        _graphemes(text), width=width, measure=display_width, first=first, rest=rest, at_blanks=at_blanks
    )


def wrap_words(text: str, *, width: int, first: str = "", rest: str = "") -> list[str]:
    """Wrap a text of ours between words."""
    rows, row = list[str](), first
    is_begun = False
    for word in text.split():
        joined = f"{row} {word}" if is_begun else f"{row}{word}"
        if display_width(joined) <= width:
            row, is_begun = joined, True
            continue
        if is_begun:
            rows.append(row)
        *full, row = wrap_text(word, width=width, first=rest if is_begun or rows else first, rest=rest)
        rows += full
        is_begun = True
    return [*rows, row]


def truncate(text: str, width: int, theme: Theme) -> str:
    """Truncate a sanitized text to the width, with an ellipsis."""
    if display_width(text) <= width:
        return text
    kept, room = "", width - 1
    for grapheme, columns in _graphemes(text):
        if columns > room:
            break
        kept += grapheme
        room -= columns
    return kept + theme.glyphs.more if width > 0 else ""


def _graphemes(text: str) -> Iterator[tuple[str, int]]:
    if text.isascii():
        return ((character, 1) for character in text)
    return ((grapheme, display_width(grapheme)) for grapheme in iter_graphemes(text))
