"""The user of a command that a front end in another process runs."""

from collections.abc import Sequence

from tejat.core.errors import UsageError
from tejat.core.messages.types import JsonObject
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import Report
from tejat.core.value_json import value_to_json
from tejat.ui.jsonrpc.peer import JsonRpcPeer, PeerError
from tejat.ui.remote import methods


class CommandPrompter:
    """A `UserPrompter` that asks the front end. Nothing is chosen or entered if it has left."""

    def __init__(self, peer: JsonRpcPeer) -> None:
        self._peer = peer

    def show(self, report: Report) -> None:
        """Show a report in the front end."""
        self._peer.notify(methods.SHOW, {"report": value_to_json(report)})

    async def page(self, reports: Sequence[Report]) -> bool:
        """Show reports in the pager of the front end, if they need one."""
        answer = await self._ask(methods.PAGE, {"reports": value_to_json(reports)})
        return answer.get("was_paged") is True

    async def choose(self, choice: Choice) -> int | None:
        """Let the user choose. The previews of all options are sent along."""
        previews = [] if choice.preview is None else [choice.preview(index) for index in range(len(choice.options))]
        params: JsonObject = {"choice": value_to_json(choice), "previews": value_to_json(previews)}
        chosen = (await self._ask(methods.CHOOSE, params)).get("chosen")
        return chosen if isinstance(chosen, int) and 0 <= chosen < len(choice.options) else None

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        """Let the user enter a line."""
        params: JsonObject = {"label": value_to_json(label), "initial": initial, "is_secret": is_secret}
        return _text(await self._ask(methods.ENTER, params))

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """Let the user edit a text. Raises UsageError if the front end has no editor."""
        return _text(await self._ask(methods.EDIT, {"text": text, "suffix": suffix}, raises=True))

    async def copy(self, text: str) -> str:
        """Copy a text to the clipboard of the front end. Raises UsageError if it has none."""
        return _text(await self._ask(methods.COPY, {"text": text}, raises=True)) or ""

    async def _ask(self, method: str, params: JsonObject, *, raises: bool = False) -> JsonObject:
        try:
            return await self._peer.request(method, params)
        except PeerError as error:
            if raises and error.code:
                raise UsageError(str(error)) from error
            return {}


def _text(answer: JsonObject) -> str | None:
    text = answer.get("text")
    return text if isinstance(text, str) else None
