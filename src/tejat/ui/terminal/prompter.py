"""Prompter of commands on the terminal."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from tejat.core.errors import UsageError
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import Report
from tejat.core.ui.status import Preferences
from tejat.ui.shared.external.clipboard import copy_text
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import QUESTION_ROWS, Pager
from tejat.ui.terminal.dialogs.choice import ChoiceDialog
from tejat.ui.terminal.dialogs.input import InputDialog
from tejat.ui.terminal.dialogs.preview import PreviewDialog
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import Theme
from tejat.ui.terminal.views.report import render_report

if TYPE_CHECKING:
    from tejat.ui.terminal.screen.inline_screen import InlineScreen


class TerminalPrompter:
    """UserPrompter with dialogs on the screen, an external editor and a pager.

    `show` prints a report, `theme_for` returns the theme that preferences would have.
    """

    def __init__(
        self,
        screen: "InlineScreen",
        editor: Callable[[], ExternalEditor],
        show: Callable[[Report], None],
        theme_for: Callable[[Preferences], Theme],
        pager: Pager,
    ) -> None:
        self._screen = screen
        self._editor = editor
        self._show = show
        self._theme_for = theme_for
        self._pager = pager

    def show(self, report: Report) -> None:
        self._show(report)

    async def page(self, reports: Sequence[Report]) -> bool:
        await self._screen.background.wait_before_printing()
        screen, theme = self._screen, self._screen.theme
        parts = [part for report in reports for part in (Text(""), render_report(report, theme))]
        whole = Group(*parts[1:])
        rows = render_rows(whole, theme, width=screen.width)
        if self._pager.is_wanted and len(rows) > screen.height - QUESTION_ROWS:
            text = "\n".join("".join(cell.text for cell in row).rstrip() for row in rows)
            try:
                async with screen.released():
                    await self._pager.show(text, styled=render_ansi(whole, theme, width=screen.width))
            except UsageError:
                pass  # there is none
            else:
                return True
        for report in reports:
            self.show(report)
        return False

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
