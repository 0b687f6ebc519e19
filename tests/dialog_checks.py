"""Dialogs without a terminal: what stands in their rows, and what comes of keys."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from rich.console import RenderableType

from tejat.frontends.terminal.cells import columns
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.look import ASCII, Look
from tejat.frontends.terminal.paint import rows_of

UNICODE = Look()
PLAIN_ASCII = Look(glyphs=ASCII)

HOSTILE = "a\x1b[2J\x1b]52;c;eA==\x07\x9b31m\r\u202e\u200b\U000e0041\udcff\nb"
"""What a terminal would obey or hide."""
SHOWN = "a<U+001B>[2J<U+001B>]52;c;eA==<U+0007><U+009B>31m<U+000D><U+202E><U+200B><U+E0041><U+DCFF><U+000A>b"

Result_co = TypeVar("Result_co", covariant=True)


class AnyDialog(Protocol[Result_co]):
    def view(self, *, width: int, height: int) -> RenderableType: ...

    def press(self, key: str) -> Decided[Result_co] | None: ...


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def drawn(dialog: AnyDialog[object], *, width: int = 80, height: int = 24, look: Look = UNICODE) -> list[str]:
    """The rows of the dialog, which fit, without the blanks at their ends."""
    rows = rows_of(dialog.view(width=width, height=height), look, width=width)
    assert len(rows) <= height
    assert all(columns(row) <= width for row in rows)
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def pressed(
    dialog: AnyDialog[Result_co], keys: Iterable[str], *, width: int = 80, height: int = 24
) -> Result_co | None:
    """Press keys, each after a look, up to the result; None where there is none."""
    for key in keys:
        dialog.view(width=width, height=height)
        decided = dialog.press(key)
        if decided is not None:
            return decided.result
    return None
