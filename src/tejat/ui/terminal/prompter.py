"""Prompter of commands on the terminal."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import Report
from tejat.core.ui.status import Preferences
from tejat.ui.shared.external.clipboard import copy_text
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.terminal.dialogs.choice import ChoiceDialog
from tejat.ui.terminal.dialogs.input import InputDialog
from tejat.ui.terminal.dialogs.preview import PreviewDialog
from tejat.ui.terminal.render.theme import Theme

if TYPE_CHECKING:
    from tejat.ui.terminal.screen.inline_screen import InlineScreen


class TerminalPrompter:
    """UserPrompter with dialogs on the screen and an external editor.

    `show` prints a report, `theme_for` returns the theme that preferences would have.
    """

    def __init__(
        self,
        screen: "InlineScreen",
        editor: Callable[[], ExternalEditor],
        show: Callable[[Report], None],
        theme_for: Callable[[Preferences], Theme],
    ) -> None:
        self._screen = screen
        self._editor = editor
        self._show = show
        self._theme_for = theme_for

    def show(self, report: Report) -> None:
        self._show(report)

    async def choose(self, choice: Choice) -> int | None:
        await self._screen.background.wait_before_printing()
        if choice.report is not None:
            self.show(choice.report)
        dialog = ChoiceDialog(choice, self._screen.theme)
        if choice.preview is None:
            return await self._screen.run_dialog(dialog)
        return await self._screen.run_dialog(PreviewDialog(dialog, choice.preview, self._theme_for))

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        await self._screen.background.wait_before_printing()
        dialog = InputDialog(label, self._screen.theme, initial=initial, is_secret=is_secret)
        return await self._screen.run_dialog(dialog)

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        async with self._screen.released():
            return await self._editor().edit_text(text, suffix=suffix)

    async def copy(self, text: str) -> str:
        return await copy_text(text, self._screen.write_raw)
