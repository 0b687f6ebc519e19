"""A choice with a preview of the selected option, redrawn while the selection moves."""

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.text import Text

from tejat.core.ui.prompter import ChoicePreview
from tejat.core.ui.status import Preferences
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.choice import ChoiceDialog
from tejat.ui.terminal.render.rich_output import render_texts
from tejat.ui.terminal.render.text_rows import stack_rows, styled_row
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.report import render_report

_MIN_LIST_ROWS = 7
"""Rows of the list below which the preview is cut."""


class PreviewDialog:
    """Draws the list and a sample in the theme of the selected option. The screen keeps its own theme."""

    def __init__(
        self,
        choices: ChoiceDialog,
        preview: Callable[[int], ChoicePreview],
        theme_for: Callable[[Preferences], Theme],
    ) -> None:
        self._choices = choices
        self._preview = preview
        self._theme_for = theme_for
        self._drawn: tuple[tuple[int, int], list[Text]] | None = None

    def view(self, *, width: int, height: int) -> RenderableType:
        shown = self._preview(self._choices.selected)
        self._choices.theme = theme = self._theme_for(shown.preferences)
        key = (self._choices.selected, width)
        if self._drawn is None or self._drawn[0] != key:
            rule = styled_row(theme, (theme.glyphs.rule * min(width, 40), StyleRole.QUIET))
            texts = [
                text for text in render_texts(render_report(shown.sample, theme), theme, width=width) if text.plain
            ]
            self._drawn = key, [rule, *texts]
        sample = self._drawn[1][: max(height - _MIN_LIST_ROWS, 0)]
        choices = self._choices.view(width=width, height=height - len(sample))
        return Group(choices, stack_rows(sample))

    def press(self, key: str) -> DialogResult[int | None] | None:
        return self._choices.press(key)
