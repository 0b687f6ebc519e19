"""A list to choose from by arrows, number or filter."""

import time
from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from tejat.core.i18n import _, ngettext
from tejat.core.ui.prompter import Choice
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.key_guard import KeyGuard
from tejat.ui.terminal.dialogs.key_hints import joined_hints
from tejat.ui.terminal.render.scroll import first_visible
from tejat.ui.terminal.render.text_rows import (
    display_width,
    single_line,
    stack_rows,
    styled_row,
    styled_rows,
    truncate,
    truncated_row,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme

_MAX_NUMBERED = 9
_MAX_DETAIL_ROWS = 4


class ChoiceDialog:
    """Returns the index of the chosen option, None if cancelled. More than nine are filtered, not numbered.

    `selected` is the index of the option under the cursor.
    """

    def __init__(self, choice: Choice, theme: Theme, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = single_line(choice.title)
        self._options = [(single_line(option.label), single_line(option.detail)) for option in choice.options]
        self._notes = [single_line(option.note) for option in choice.options]
        self.theme = theme
        self._guard = KeyGuard(clock) if choice.is_critical else None
        self.selected = min(max(choice.initial, 0), max(len(self._options) - 1, 0))
        self._filter = ""
        self._page = 1

    def view(self, *, width: int, height: int) -> RenderableType:
        if self._guard is not None:
            self._guard.mark_shown()
        head = styled_rows(self.theme, wrap_words(self._title, width=width), StyleRole.STRONG)
        if self._filter:
            head.append(truncated_row(self.theme, f"> {self._filter}", StyleRole.ACCENT, width))
        foot = [*self._detail_rows(width), self._hint_row(width)]
        head = head[: max(1, height // 3)]
        foot = foot[: max(0, height - len(head) - 3)]
        self._page = max(1, height - len(head) - len(foot))
        return stack_rows([*head, *self._list_rows(width, self._page), *foot][: max(1, height)])

    def press(self, key: str) -> DialogResult[int | None] | None:
        if key in ("escape", "c-c"):
            return DialogResult(None)
        if self._guard is not None and not self._guard.accepts(key, is_typing=False):
            return None
        shown = self._matching()
        at = shown.index(self.selected) if self.selected in shown else 0
        if key == "enter":
            return DialogResult(self.selected) if shown else None
        last, before, after = len(shown) - 1, at - 1 if at else -1, at + 1 if at + 1 < len(shown) else 0
        pages = {"pageup": max(0, at - self._page), "pagedown": min(last, at + self._page)}
        places = {"up": before, "s-tab": before, "down": after, "tab": after, "home": 0, "end": last, **pages}
        if key not in places:
            return self._type(key)
        if shown:
            self.selected = shown[places[key]]
        return None

    @property
    def _is_numbered(self) -> bool:
        return len(self._options) <= _MAX_NUMBERED

    def _type(self, key: str) -> DialogResult[int | None] | None:
        if self._is_numbered:
            is_number = key.isascii() and key.isdigit() and 1 <= int(key) <= len(self._options)
            return DialogResult(int(key) - 1) if is_number else None
        if key == "backspace":
            self._filter = self._filter[:-1]
        elif len(key) == 1:
            self._filter += single_line(key)
        shown = self._matching()
        if shown and self.selected not in shown:
            self.selected = shown[0]
        return None

    def _matching(self) -> list[int]:
        """Return the indexes of the options that match the filter."""
        words = self._filter.casefold().split()
        texts = [f"{label} {detail}".casefold() for label, detail in self._options]
        return [at for at, text in enumerate(texts) if all(word in text for word in words)]

    def _list_rows(self, width: int, limit: int) -> list[Text]:
        """Return the options around the selected one, and the number of others."""
        shown = self._matching()
        if not shown:
            text = _("No matches. Backspace to change the filter.")
            return styled_rows(self.theme, wrap_words(text, width=width)[:limit], StyleRole.QUIET)
        if len(shown) <= limit:
            return [self._row(at, width) for at in shown]
        room = max(1, limit - 1)
        selected = shown.index(self.selected)
        start = first_visible(selected - room // 2, selected=selected, visible=room, total=len(shown))
        left = len(shown) - room
        text = ngettext("{count} more", "{count} more", left)
        place = _("{place} of {total}", place=selected + 1, total=len(shown))
        note = f"{self.theme.glyphs.more} {text} ({place})"
        rows = [self._row(at, width) for at in shown[start : start + room]]
        return [*rows, truncated_row(self.theme, note, StyleRole.QUIET, width)][:limit]

    def _row(self, at: int, width: int) -> Text:
        """Return one row: mark, number, label, and as much of the detail as fits."""
        label, detail = self._options[at]
        is_selected = at == self.selected
        number = f"{at + 1} " if self._is_numbered else ""
        sign = f"{self.theme.glyphs.cursor if is_selected else ' '} {number}"
        room = width - display_width(sign)
        kept = truncate(label, room, self.theme)
        part = StyleRole.PROMPT if is_selected else StyleRole.TEXT
        left = room - display_width(kept) - 2
        pieces = [(sign, StyleRole.ACCENT), (kept, part)]
        if detail and left >= min(display_width(detail), 8):
            pieces.append((f"  {truncate(detail, left, self.theme)}", StyleRole.QUIET))
        return styled_row(self.theme, *pieces)

    def _detail_rows(self, width: int) -> list[Text]:
        """Return the parts of the selected option that did not fit into its row."""
        if self.selected not in self._matching():
            return []
        label, detail = self._options[self.selected]
        room = width - 4
        texts: list[str] = []
        if display_width(label) > room:
            texts.append(label)
        if detail and display_width(label) + display_width(detail) + 2 > room:
            texts.append(detail)
        rows = [row for text in texts for row in wrap_text(text, width=width, first="  ", rest="  ", at_blanks=True)]
        if len(rows) > _MAX_DETAIL_ROWS:
            rows = [*rows[: _MAX_DETAIL_ROWS - 1], f"  {self.theme.glyphs.more}"]
        if note := self._notes[self.selected]:
            rows += wrap_text(note, width=width, first="  ", rest="  ", at_blanks=True)
        return styled_rows(self.theme, rows, StyleRole.QUIET)

    def _hint_row(self, width: int) -> Text:
        keys = _("number to choose") if self._is_numbered else _("type to filter")
        return joined_hints([_("Enter to confirm"), _("Esc to cancel"), keys], self.theme, width=width)
