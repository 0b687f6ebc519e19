"""Input of one line, such as a name or a secret."""

from rich.console import RenderableType

from tejat.core.i18n import _
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.text_rows import single_line, stack_rows, styled_rows, wrap_words
from tejat.ui.terminal.render.theme import StyleRole, Theme


class InputDialog:
    """Dialog that returns the typed line, None if cancelled. Secrets are drawn as bullets."""

    def __init__(self, label: str, theme: Theme, *, initial: str = "", is_secret: bool = False) -> None:
        self._label = single_line(label)
        self._theme = theme
        self._line = TextInput(initial, is_secret=is_secret)
        self._caret = (0, 0)

    def view(self, *, width: int, height: int) -> RenderableType:
        label = styled_rows(self._theme, wrap_words(self._label, width=width)[: max(0, height - 1)], StyleRole.STRONG)
        hint = joined_hints([_("Enter to confirm"), _("Esc to cancel")], self._theme, width=width)
        limit = max(1, height - len(label) - 1)
        typed = self._line.render(self._theme, width=width, max_rows=limit, first="> ")
        column, line = typed.caret
        self._caret = (column, len(label) + line)
        return stack_rows([*label, *typed.rows, hint][: max(1, height)])

    def caret(self, *, width: int, height: int) -> tuple[int, int]:
        """Return the caret of the last view."""
        return self._caret

    def press(self, key: str) -> DialogResult[str | None] | None:
        if key in ("escape", "c-c"):
            return DialogResult(None)
        if key == "enter":
            return DialogResult(self._line.text)
        self._line.press(key)
        return None
