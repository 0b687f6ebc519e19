"""Commands and onboarding steps that show and ask something in a client."""

import os
from collections.abc import Sequence
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.core.ui.prompter import Choice, Option
from tejat.core.ui.report import Report, Tone, text_report
from tejat.ui.acp.client import AcpClient
from tejat.ui.acp.report_markdown import report_to_markdown
from tejat.ui.jsonrpc.peer import PeerError

_FIELD = "text"


class ClientPrompter:
    """A `UserPrompter`: reports are messages, choices are permission requests, inputs are forms."""

    def __init__(self, client: AcpClient, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def show(self, report: Report) -> None:
        """Show a report as a message of the agent."""
        content: JsonObject = {"type": "text", "text": report_to_markdown(report)}
        self._update({"sessionUpdate": "agent_message_chunk", "content": content})

    async def page(self, reports: Sequence[Report]) -> bool:
        """Show reports as messages, which the user can scroll through."""
        for report in reports:
            self.show(report)
        return False

    async def choose(self, choice: Choice) -> int | None:
        """Let the user choose. None if the client cancels, or answers with anything that was not offered."""
        call: dict[str, JsonValue] = {
            "toolCallId": f"question-{os.urandom(8).hex()}",
            "title": sanitize_summary(choice.title),
            "kind": "other",
            "status": "pending",
        }
        if choice.report is not None:
            text: JsonObject = {"type": "text", "text": report_to_markdown(choice.report)}
            call["content"] = [{"type": "content", "content": text}]
        self._update({"sessionUpdate": "tool_call", **call})
        # The ids hold for this question only, so a late answer to another one chooses nothing.
        prefix = os.urandom(8).hex()
        ids = [f"{prefix}-{index}" for index in range(len(choice.options))]
        options = [_to_permission_option(*each, choice) for each in zip(ids, choice.options, strict=True)]
        params: JsonObject = {"sessionId": self._session_id, "toolCall": call, "options": options}
        status = "failed"
        try:
            outcome = (await self._client.request("session/request_permission", params)).get("outcome")
            chosen = cast("JsonObject", outcome).get("optionId") if isinstance(outcome, dict) else None
            index = ids.index(chosen) if isinstance(chosen, str) and chosen in ids else None
            status = "failed" if index is None else "completed"
        except PeerError:
            return None
        else:
            return index
        finally:
            self._update({"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": status})

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        """Let the user enter a line, if the client has forms. Secrets must not go through them."""
        if is_secret:
            text = _("A key cannot be entered here. Set its environment variable, or run `tejat` in a terminal.")
            self.show(text_report(text, Tone.WARNING))
            return None
        if not self._client.capabilities.shows_forms:
            self.show(text_report(_("This client cannot ask for text: {label}", label=label), Tone.WARNING))
            return None
        field: JsonObject = {
            "type": "string",
            "title": sanitize_summary(label),
            **({"default": initial} if initial else {}),
        }
        params: JsonObject = {
            "sessionId": self._session_id,
            "mode": "form",
            "message": sanitize_summary(label),
            "requestedSchema": {"type": "object", "properties": {_FIELD: field}, "required": [_FIELD]},
        }
        try:
            answer = await self._client.request("elicitation/create", params)
        except PeerError:
            return None
        content = answer.get("content")
        entered = cast("JsonObject", content).get(_FIELD) if isinstance(content, dict) else None
        return entered if answer.get("action") == "accept" and isinstance(entered, str) else None

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """Raises UsageError: the protocol has no editor for a text."""
        raise UsageError(_("This needs an editor of its own. Use `tejat` in a terminal for it."))

    async def copy(self, text: str) -> str:
        """Raises UsageError: the protocol has no clipboard."""
        raise UsageError(_("Nothing can be copied from here. Select the text in your editor."))

    def _update(self, update: JsonObject) -> None:
        self._client.notify("session/update", {"sessionId": self._session_id, "update": update})


def _to_permission_option(option_id: str, option: Option, choice: Choice) -> JsonObject:
    """The option of a permission request. A yes to a critical choice outlasts the session or cannot be undone."""
    refusals = (_("No"), _("Cancel"), _("Not now"), _("Quit"), _("Don't trust"), _("Decide later"), _("Leave it off"))
    is_no = option.label in refusals
    kind = "reject_once" if is_no else "allow_always" if choice.is_critical else "allow_once"
    name = ": ".join(filter(None, (option.label, option.detail)))
    return {"optionId": option_id, "name": sanitize_summary(name), "kind": kind}
