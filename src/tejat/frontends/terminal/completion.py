"""Keeps the menu below the editor up with the text, and says what an entry of it makes of the text."""

import asyncio
from collections.abc import Callable

from tejat.core.commands import Suggestion
from tejat.core.errors import WorkspaceError
from tejat.core.value import value
from tejat.frontends.terminal.cells import Row
from tejat.frontends.terminal.completion_menu import CompletionMenu
from tejat.frontends.terminal.look import Look
from tejat.frontends.terminal.suggesting import Place, Suggest, place_of


@value
class At:
    """A text and the place of the caret in it."""

    text: str
    caret: int

    @property
    def place(self) -> Place | None:
        return place_of(self.text, self.caret)

    def with_entry(self, entry: Suggestion) -> "At":
        before = self.text[: self.caret - entry.replaces] + entry.text
        return At(before + self.text[self.caret :], len(before))

    def has_entry(self, entry: Suggestion) -> bool:
        """Whether it is typed already, but for blanks."""
        return self.text[self.caret - entry.replaces : self.caret] == entry.text.rstrip()

    @property
    def is_command_name(self) -> bool:
        return self.text.startswith("/") and not any(map(str.isspace, self.text))


class Completion:
    """Asks in the background; what comes for an older text is dropped, and what is drawn stays until the answer."""

    def __init__(
        self, suggest: Suggest | None, *, on_change: Callable[[], None], on_take: Callable[[At], None]
    ) -> None:
        self._suggest = suggest
        self._on_change = on_change
        self._on_take = on_take
        self._menu = CompletionMenu()
        self._asked: At | None = None
        self._answered: At | None = None
        self._asking: asyncio.Task[None] | None = None
        self._left: Place | None = None
        self._takes_next = False

    @property
    def is_open(self) -> bool:
        return self._menu.is_open

    def rows(self, look: Look, *, width: int, height: int) -> list[Row]:
        return self._menu.rows(look, width=width, height=height)

    def follow(self, at: At) -> None:
        """The text has changed: look for what it could go on as now."""
        place = at.place
        if self._suggest is None or place is None or place == self._left:
            self._left = self._left if place == self._left else None
            self.close()
            return
        self._left = None
        self._ask(self._suggest, at)

    def moved(self, at: At) -> None:
        """The caret may have moved away from what was asked for."""
        if at != self._asked:
            self.close()

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self._asked = self._answered = None
        self._takes_next = False
        if self._menu.is_open:
            self._menu.close()
            self._on_change()

    def leave(self, at: At) -> None:
        """Close the menu, and open none for what is being typed."""
        self._left = at.place
        self.close()

    def move(self, step: int) -> None:
        self._menu.move(step)
        self._on_change()

    def marked(self, at: At) -> Suggestion | None:
        """The marked entry, if it is there for this text."""
        return self._menu.marked if at == self._answered else None

    def take_best(self, at: At) -> None:
        """Take the marked entry or, if none is, the first: now, or as soon as it is found."""
        if at != self._answered:
            self._left = None
            self._takes_next = at.place is not None
            if at != self._asked:
                self.follow(at)
            return
        if self._menu.is_open and self._menu.marked is None:
            self._menu.move(1)
        entry = self._menu.marked
        if entry is not None:
            self.close()
            self._on_take(at.with_entry(entry))

    def _ask(self, suggest: Suggest, at: At) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._asked, self._answered = at, None
        self._asking = asyncio.create_task(self._show(suggest, at))

    async def _show(self, suggest: Suggest, at: At) -> None:
        try:
            async for found in suggest(at.text, at.caret):
                self._answered = at
                self._menu.show(found, typed=at.text[: at.caret])
                if found and self._takes_next:
                    break
                self._on_change()
        except (OSError, WorkspaceError):
            return  # typing goes on without it
        self._asking = None
        if self._takes_next:
            self.take_best(at)
