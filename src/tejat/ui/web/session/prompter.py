"""Dialogs of slash commands in the browser."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import cast

from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import Report
from tejat.ui.html.report import render_report


class WebPrompter:
    """A `UserPrompter`: reports are blocks of the transcript, questions are dialogs that every browser can see.

    `show_report` adds a block, `on_change` is called when a dialog opens or closes. `client` is the browser whose line
    runs; the others offer to answer in its place.
    """

    def __init__(self, show_report: Callable[[Report], None], on_change: Callable[[], None]) -> None:
        self.client = ""
        self._show_report = show_report
        self._on_change = on_change
        self._dialogs: dict[str, tuple[JsonObject, asyncio.Future[JsonValue]]] = {}

    @property
    def dialogs(self) -> list[JsonObject]:
        """The open dialogs, as the page shows them."""
        return [dialog for dialog, _answer in self._dialogs.values()]

    def answer(self, dialog_id: str, value: JsonValue) -> bool:
        """Answer a dialog, with None to cancel it. False if it is not open any more."""
        _dialog, answer = self._dialogs.get(dialog_id, (None, None))
        if answer is None or answer.done():
            return False
        answer.set_result(value)
        return True

    def show(self, report: Report) -> None:
        """Show a report in the transcript."""
        self._show_report(report)

    async def page(self, reports: Sequence[Report]) -> bool:
        """Show reports in the transcript, which the user can scroll through."""
        for report in reports:
            self._show_report(report)
        return False

    async def choose(self, choice: Choice) -> int | None:
        """Let the user choose one of the options."""
        options: list[JsonValue] = [
            {
                "label": sanitize_summary(option.label),
                "detail": sanitize_summary(option.detail),
                "note": sanitize_summary(option.note),
            }
            for option in choice.options
        ]
        value = await self._ask(
            {
                "kind": "choose",
                "title": sanitize_summary(choice.title),
                "options": options,
                "initial": choice.initial,
                "critical": choice.is_critical,
                "html": "" if choice.report is None else render_report(choice.report),
            }
        )
        is_valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(options)
        return cast("int", value) if is_valid else None

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        """Let the user enter a line."""
        dialog: JsonObject = {"kind": "enter", "title": sanitize_summary(label), "text": initial, "secret": is_secret}
        value = await self._ask(dialog)
        return value.partition("\n")[0] if isinstance(value, str) else None

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """Let the user edit a text."""
        value = await self._ask({"kind": "edit", "title": _("Edit the text"), "text": text})
        return value if isinstance(value, str) else None

    async def copy(self, text: str) -> str:
        """Show a text with a button: browsers copy only at a click."""
        await self._ask({"kind": "copy", "title": _("Copy to the clipboard"), "text": sanitize_text(text)})
        return _("the clipboard of the browser")

    async def _ask(self, dialog: JsonObject) -> JsonValue:
        """Show a dialog until it is answered, or whoever asks is cancelled."""
        dialog_id = secrets.token_hex(8)
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._dialogs[dialog_id] = ({"id": dialog_id, "client": self.client, **dialog}, answer)
        self._on_change()
        try:
            return await answer
        finally:
            del self._dialogs[dialog_id]
            self._on_change()
