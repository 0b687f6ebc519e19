"""Search in the prompt history."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from tejat.core.i18n import _
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.dialogs.text_input import TextInput
from tejat.ui.terminal.render.scroll import first_visible
from tejat.ui.terminal.render.text_rows import single_line, stack_rows, styled_row, truncate
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_ROWS = 10
_MAX_ENTRY_CHARS = 1000


class HistorySearchDialog:
    """Returns the chosen entry, None if cancelled. Newest first; case matters only if a capital is typed."""

    def __init__(self, entries: Sequence[str], theme: Theme) -> None:
        # Newest first, without duplicates.
        self._entries = list(dict.fromkeys(reversed(entries)))
        self._theme = theme
        self._input = TextInput()
        self._matches = self._entries
        self._selected = 0
        self._caret = (0, 0)

    def view(self, *, width: int, height: int) -> RenderableType:
        typed = self._input.render(self._theme, width=width, max_rows=1, first=_("Search: "))
        hints = [_("Enter to use"), _("Esc to cancel"), _("Ctrl-R or Down for older")]
        if not self._matches:
            hints = [_("No matches"), _("Esc to cancel")]
        limit = max(min(height - 2, _MAX_ROWS), 0)
        top = first_visible(0, selected=self._selected, visible=limit, total=len(self._matches))
        shown = [self._row(at, width) for at in range(top, min(top + limit, len(self._matches)))]
        self._caret = (typed.caret[0], len(shown))
        last = joined_hints(hints, self._theme, width=width)
        return stack_rows([*shown, *typed.rows, last][: max(height, 1)])

    def caret(self, *, width: int, height: int) -> tuple[int, int]:
        """Return the caret of the last view."""
        return self._caret

    def press(self, key: str) -> DialogResult[str | None] | None:
        match key:
            case "escape" | "c-c" | "c-g":
                return DialogResult(None)
            case "enter" | "tab":
                return DialogResult(self._matches[self._selected] if self._matches else None)
            case "up" | "c-p" | "s-tab":
                self._selected = max(self._selected - 1, 0)
            case "down" | "c-n" | "c-r":
                self._selected = min(self._selected + 1, max(len(self._matches) - 1, 0))
            case _:
                if self._input.press(key):
                    self._filter()
        return None

    def _filter(self) -> None:
        typed = self._input.text
        ignores_case = typed == typed.lower()
        self._matches = [entry for entry in self._entries if typed in (entry.lower() if ignores_case else entry)]
        self._selected = 0

    def _row(self, at: int, width: int) -> Text:
        is_selected = at == self._selected
        sign = self._theme.glyphs.cursor if is_selected else " "
        entry = truncate(single_line(" ".join(self._matches[at][:_MAX_ENTRY_CHARS].split())), width - 2, self._theme)
        return styled_row(self._theme, (f"{sign} {entry}", StyleRole.PROMPT if is_selected else StyleRole.TEXT))
