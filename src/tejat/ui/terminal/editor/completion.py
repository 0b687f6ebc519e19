"""State of the completion menu and application of its entries."""

import asyncio
from collections.abc import Callable

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.ui.commands import CompletionItem
from tejat.ui.terminal.editor.completer import CompleteFunction, CompletionTarget, completion_target
from tejat.ui.terminal.editor.completion_menu import CompletionMenu
from tejat.ui.terminal.render.cells import CellRow
from tejat.ui.terminal.render.theme import Theme


class CompletionRequest(Frozen):
    """Text and caret to complete."""

    text: str
    caret: int

    @property
    def target(self) -> CompletionTarget | None:
        return completion_target(self.text, self.caret)

    def apply(self, entry: CompletionItem) -> "CompletionRequest":
        before = self.text[: self.caret - entry.replace_length] + entry.text
        return CompletionRequest(before + self.text[self.caret :], len(before))

    def is_applied(self, entry: CompletionItem) -> bool:
        """Whether the entry is already typed, apart from trailing blanks."""
        return self.text[self.caret - entry.replace_length : self.caret] == entry.text.rstrip()

    @property
    def is_command_name(self) -> bool:
        return self.text.startswith("/") and not any(map(str.isspace, self.text))


class CompletionState:
    """Completes in the background. Outdated results are dropped; the old menu stays until the new one arrives."""

    def __init__(
        self,
        completer: CompleteFunction | None,
        *,
        on_change: Callable[[], None],
        on_accept: Callable[[CompletionRequest], None],
    ) -> None:
        self._completer = completer
        self._on_change = on_change
        self._on_accept = on_accept
        self._menu = CompletionMenu()
        self._requested: CompletionRequest | None = None
        self._answered: CompletionRequest | None = None
        self._task: asyncio.Task[None] | None = None
        self._dismissed: CompletionTarget | None = None
        self._accepts_next = False

    @property
    def is_open(self) -> bool:
        return self._menu.is_open

    def rows(self, theme: Theme, *, width: int, height: int) -> list[CellRow]:
        return self._menu.rows(theme, width=width, height=height)

    def update(self, request: CompletionRequest) -> None:
        """Complete the changed text."""
        target = request.target
        if self._completer is None or target is None or target == self._dismissed:
            self._dismissed = self._dismissed if target == self._dismissed else None
            self.close()
            return
        self._dismissed = None
        self._start(self._completer, request)

    def caret_moved(self, request: CompletionRequest) -> None:
        """Close the menu if the caret left the completed text."""
        if request != self._requested:
            self.close()

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = self._requested = self._answered = None
        self._accepts_next = False
        if self._menu.is_open:
            self._menu.close()
            self._on_change()

    def dismiss(self, request: CompletionRequest) -> None:
        """Close the menu and keep it closed for the current word."""
        self._dismissed = request.target
        self.close()

    def move(self, step: int) -> None:
        self._menu.move(step)
        self._on_change()

    def selected(self, request: CompletionRequest) -> CompletionItem | None:
        """Return the selected entry, if it belongs to this text."""
        return self._menu.selected if request == self._answered else None

    def accept_best(self, request: CompletionRequest) -> None:
        """Accept the selected or first entry, now or as soon as it is found."""
        if request != self._answered:
            self._dismissed = None
            self._accepts_next = request.target is not None
            if request != self._requested:
                self.update(request)
            return
        if self._menu.is_open and self._menu.selected is None:
            self._menu.move(1)
        entry = self._menu.selected
        if entry is not None:
            self.close()
            self._on_accept(request.apply(entry))

    def _start(self, completer: CompleteFunction, request: CompletionRequest) -> None:
        if self._task is not None:
            self._task.cancel()
        self._requested, self._answered = request, None
        self._task = asyncio.create_task(self._show(completer, request))
        self._task.add_done_callback(self._drop_task)

    def _drop_task(self, task: "asyncio.Task[None]") -> None:
        """Drop an ended task, so that its unexpected exception is reported now and not with the next key."""
        if self._task is task:
            self._task = None

    async def _show(self, completer: CompleteFunction, request: CompletionRequest) -> None:
        try:
            async for found in completer(request.text, request.caret):
                self._answered = request
                self._menu.show(found, typed=request.text[: request.caret])
                if found and self._accepts_next:
                    break
                self._on_change()
        except (OSError, WorkspaceError):
            return  # completion is optional
        self._task = None
        if self._accepts_next:
            self.accept_best(request)
