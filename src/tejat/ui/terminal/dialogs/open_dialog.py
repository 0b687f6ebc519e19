"""A dialog that is open: it gets the keys, and whoever asked waits for what comes of it."""

import asyncio
from typing import Generic, TypeVar

from tejat.ui.terminal.dialogs.base import Dialog

Result = TypeVar("Result")


class OpenDialog(Generic[Result]):
    def __init__(self, dialog: Dialog[Result]) -> None:
        self.dialog = dialog
        self.answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def press(self, key: str) -> None:
        """Keys that come after the answer, for the dialog's screen still stands, are meant for nobody."""
        if self.answer.done():
            return
        try:
            decided = self.dialog.press(key)
        except Exception as error:  # noqa: BLE001 -- whoever asked is told
            self.answer.set_exception(error)
            return
        if decided is not None:
            self.answer.set_result(decided.result)

    def abandon(self) -> None:
        """Nobody is there any more: the answer is that of somebody who leaves, else EOFError."""
        self.press("escape")
        self.press("c-c")
        if not self.answer.done():
            self.answer.set_exception(EOFError())

    @property
    def refresh_seconds(self) -> float | None:
        """After how long its view is asked for again, if it says so by an attribute of this name."""
        return getattr(self.dialog, "refresh_seconds", None)
