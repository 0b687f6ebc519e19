"""A list to choose from: with arrows, by number, or by typing a part of what is looked for."""

import time
from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from tejat.core.person import Choice
from tejat.core.words import say, say_count
from tejat.frontends.terminal.dialog import Decided
from tejat.frontends.terminal.key_guard import KeyGuard
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import columns_of, cut, one_line, painted, stacked, wrapped, wrapped_words

_MOST_NUMBERED = 9
_MOST_DETAIL_ROWS = 4


class ChoiceDialog:
    """A Dialog that comes to the place of what was chosen, None where the person left.

    Up to nine options have numbers. In a longer list what is typed leaves only the options that it is a part of.
    """

    def __init__(self, choice: Choice, look: Look, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = one_line(choice.title)
        self._options = [(one_line(option.label), one_line(option.detail)) for option in choice.options]
        self._look = look
        self._guard = KeyGuard(clock) if choice.is_grave else None
        self._marked = min(max(choice.initial, 0), max(len(self._options) - 1, 0))
        self._filter = ""
        self._page = 1

    def view(self, *, width: int, height: int) -> RenderableType:
        if self._guard is not None:
            self._guard.appear()
        head = [painted(self._look, (row, Part.STRONG)) for row in wrapped_words(self._title, width=width)]
        if self._filter:
            head.append(painted(self._look, (cut(f"> {self._filter}", width, self._look), Part.ACCENT)))
        foot = [*self._detail_rows(width), *self._hint_rows(width)]
        head = head[: max(1, height // 3)]
        foot = foot[: max(0, height - len(head) - 3)]
        self._page = max(1, height - len(head) - len(foot))
        return stacked([*head, *self._list_rows(width, self._page), *foot][: max(1, height)])

    def press(self, key: str) -> Decided[int | None] | None:
        if key in ("escape", "c-c"):
            return Decided(None)
        if self._guard is not None and not self._guard.hears(key, is_typing=False):
            return None
        shown = self._shown()
        at = shown.index(self._marked) if self._marked in shown else 0
        match key:
            case "enter":
                return Decided(self._marked) if shown else None
            case "up" | "s-tab":
                self._mark(shown, at - 1 if at else len(shown) - 1)
            case "down" | "tab":
                self._mark(shown, at + 1 if at + 1 < len(shown) else 0)
            case "pageup":
                self._mark(shown, max(0, at - self._page))
            case "pagedown":
                self._mark(shown, min(len(shown) - 1, at + self._page))
            case "home":
                self._mark(shown, 0)
            case "end":
                self._mark(shown, len(shown) - 1)
            case _:
                return self._type(key)
        return None

    @property
    def _is_numbered(self) -> bool:
        return len(self._options) <= _MOST_NUMBERED

    def _type(self, key: str) -> Decided[int | None] | None:
        if self._is_numbered:
            is_number = key.isascii() and key.isdigit() and 1 <= int(key) <= len(self._options)
            return Decided(int(key) - 1) if is_number else None
        if key == "backspace":
            self._filter = self._filter[:-1]
        elif len(key) == 1:
            self._filter += one_line(key)
        shown = self._shown()
        if shown and self._marked not in shown:
            self._marked = shown[0]
        return None

    def _mark(self, shown: list[int], at: int) -> None:
        if shown:
            self._marked = shown[at]

    def _shown(self) -> list[int]:
        """The places of the options that the filter leaves."""
        words = self._filter.casefold().split()
        texts = [f"{label} {detail}".casefold() for label, detail in self._options]
        return [at for at, text in enumerate(texts) if all(word in text for word in words)]

    def _list_rows(self, width: int, most: int) -> list[Text]:
        """As many options as fit, with the marked one among them, and how many there are before and after."""
        shown = self._shown()
        if not shown:
            told = say("Nothing fits. Backspace takes a letter back.")
            return [painted(self._look, (row, Part.QUIET)) for row in wrapped_words(told, width=width)[:most]]
        if len(shown) <= most:
            return [self._row(at, width) for at in shown]
        room = max(1, most - 1)
        marked = shown.index(self._marked)
        start = max(0, min(marked - room // 2, len(shown) - room))
        left = len(shown) - room
        told = say_count("{count} more", "{count} more", left)
        place = say("{place} of {total}", place=marked + 1, total=len(shown))
        note = f"{self._look.glyphs.more} {told} ({place})"
        rows = [self._row(at, width) for at in shown[start : start + room]]
        return [*rows, painted(self._look, (cut(note, width, self._look), Part.QUIET))][:most]

    def _row(self, at: int, width: int) -> Text:
        """One row: the mark, the number, the label, and as much of the detail as there is room for."""
        label, detail = self._options[at]
        is_marked = at == self._marked
        number = f"{at + 1} " if self._is_numbered else ""
        sign = f"{self._look.glyphs.mark if is_marked else ' '} {number}"
        room = width - columns_of(sign)
        kept = cut(label, room, self._look)
        part = Part.SELECTED if is_marked else Part.TEXT
        left = room - columns_of(kept) - 2
        pieces = [(sign, Part.ACCENT), (kept, part)]
        if detail and left >= min(columns_of(detail), 8):
            pieces.append((f"  {cut(detail, left, self._look)}", Part.QUIET))
        return painted(self._look, *pieces)

    def _detail_rows(self, width: int) -> list[Text]:
        """What did not fit into the row of the marked option, in full as far as there is room."""
        if self._marked not in self._shown():
            return []
        label, detail = self._options[self._marked]
        room = width - 4
        texts: list[str] = []
        if columns_of(label) > room:
            texts.append(label)
        if detail and columns_of(label) + columns_of(detail) + 2 > room:
            texts.append(detail)
        rows = [row for text in texts for row in wrapped(text, width=width, first="  ", rest="  ", at_blanks=True)]
        if len(rows) > _MOST_DETAIL_ROWS:
            rows = [*rows[: _MOST_DETAIL_ROWS - 1], f"  {self._look.glyphs.more}"]
        return [painted(self._look, (row, Part.QUIET)) for row in rows]

    def _hint_rows(self, width: int) -> list[Text]:
        if self._is_numbered:
            hint = say("Arrows and Enter, or a number. Esc leaves it.")
        else:
            hint = say("Arrows and Enter. Type to find. Esc leaves it.")
        return [painted(self._look, (row, Part.QUIET)) for row in wrapped_words(hint, width=width)]
