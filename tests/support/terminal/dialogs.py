"""Drawing dialogs and pressing keys without a terminal."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from rich.console import RenderableType

from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.render.cells import row_width
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme

UNICODE = Theme()
PLAIN_ASCII = Theme(glyphs=ASCII_GLYPHS)

HOSTILE = "a\x1b[2J\x1b]52;c;eA==\x07\x9b31m\r\u202e\u200b\U000e0041\udcff\nb"
"""Text with control sequences and invisible characters."""
HOSTILE_SANITIZED = (
    "a<U+001B>[2J<U+001B>]52;c;eA==<U+0007><U+009B>31m<U+000D><U+202E><U+200B><U+E0041><U+DCFF><U+000A>b"
)

Result_co = TypeVar("Result_co", covariant=True)


class DialogLike(Protocol[Result_co]):
    def view(self, *, width: int, height: int) -> RenderableType: ...

    def press(self, key: str) -> DialogResult[Result_co] | None: ...


class FakeClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def draw(dialog: DialogLike[object], *, width: int = 80, height: int = 24, theme: Theme = UNICODE) -> list[str]:
    """The rows of the dialog, without trailing blanks; they fit."""
    rows = render_rows(dialog.view(width=width, height=height), theme, width=width)
    assert len(rows) <= height
    assert all(row_width(row) <= width for row in rows)
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def press_keys(
    dialog: DialogLike[Result_co], keys: Iterable[str], *, width: int = 80, height: int = 24
) -> Result_co | None:
    """Press keys, each after a redraw, up to the result; None if there is none."""
    for key in keys:
        dialog.view(width=width, height=height)
        decided = dialog.press(key)
        if decided is not None:
            return decided.result
    return None
