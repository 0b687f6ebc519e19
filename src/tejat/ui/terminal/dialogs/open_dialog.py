"""An open dialog and the future of its result."""

import asyncio
from typing import Generic, TypeVar

from tejat.ui.terminal.dialogs.base import Dialog

Result = TypeVar("Result")


class OpenDialog(Generic[Result]):
    def __init__(self, dialog: Dialog[Result]) -> None:
        self.dialog = dialog
        self.answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def press(self, key: str) -> None:
        """Handle a key. Keys after the result are ignored."""
        if self.answer.done():
            return
        try:
            decided = self.dialog.press(key)
        except Exception as error:  # noqa: BLE001 -- raised to the caller
            self.answer.set_exception(error)
            return
        if decided is not None:
            self.answer.set_result(decided.result)

    def abandon(self) -> None:
        """End the dialog as if cancelled, because the terminal is gone; EOFError if it has no such result."""
        self.press("escape")
        self.press("c-c")
        if not self.answer.done():
            self.answer.set_exception(EOFError())

    @property
    def refresh_seconds(self) -> float | None:
        """Interval of redraws, if the dialog has an attribute of this name."""
        return getattr(self.dialog, "refresh_seconds", None)
