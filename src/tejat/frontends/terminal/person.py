"""The person at the terminal, as commands ask them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.person import Choice
from tejat.core.sheet import Sheet
from tejat.frontends.external_editor import Editor
from tejat.frontends.terminal.choice_dialog import ChoiceDialog
from tejat.frontends.terminal.clipboard import copy_text
from tejat.frontends.terminal.enter_dialog import EnterDialog

if TYPE_CHECKING:
    from tejat.frontends.terminal.frame import Frame


class TerminalPerson:
    """A Person who sits at the frame and has this editor. `show` puts a sheet where they read."""

    def __init__(self, frame: "Frame", editor: Callable[[], Editor], show: Callable[[Sheet], None]) -> None:
        self._frame = frame
        self._editor = editor
        self._show = show

    def show(self, sheet: Sheet) -> None:
        self._show(sheet)

    async def choose(self, choice: Choice) -> int | None:
        if choice.sheet is not None:
            self.show(choice.sheet)
        return await self._frame.ask(ChoiceDialog(choice, self._frame.look))

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        return await self._frame.ask(EnterDialog(label, self._frame.look, initial=initial, is_secret=is_secret))

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        async with self._frame.away():
            return await self._editor().write(text, suffix=suffix)

    async def copy(self, text: str) -> str:
        return await copy_text(text, self._frame.send)
