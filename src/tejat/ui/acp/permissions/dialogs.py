"""Dialogs of the client: permission requests, forms and web pages."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.acp.client import AcpClient, ClientCapabilities
from tejat.ui.acp.updates.session_updates import SessionUpdates
from tejat.ui.acp.updates.tool_calls import OpenCall


class DialogSubject(Frozen):
    """What a permission request is about, if it is about no call; a call is described by itself, and by `content`."""

    title: str
    kind: str
    content: tuple[JsonObject, ...]
    locations: tuple[JsonValue, ...] = ()

    def to_json(self) -> JsonObject:
        content, locations = list(self.content), list(self.locations)
        return {"title": self.title, "kind": self.kind, "content": content, "locations": locations}


class DialogCall:
    """The tool call in a permission request, as the client gets it."""

    def __init__(self, call_id: str, fields: JsonObject) -> None:
        self.call_id = call_id
        self.fields: JsonObject = {"toolCallId": call_id, **fields, "status": "pending"}
        self.is_approved = False


class ClientDialogs:
    """Shows dialogs of one session. Every request raises PeerError."""

    def __init__(self, client: AcpClient, session_id: str, updates: SessionUpdates) -> None:
        self._client = client
        self._session_id = session_id
        self._updates = updates

    @property
    def capabilities(self) -> ClientCapabilities:
        return self._client.capabilities

    @contextmanager
    def call_of(self, request: ApprovalRequest, subject: DialogSubject) -> Generator[DialogCall]:
        """The tool call that a question is about. One that is about none gets a tool call of its own."""
        known = self._updates.calls.find(request.agent, request.call_index)
        if known is not None:
            yield DialogCall(known.call_id, self._describe(known, request.agent, subject))
            return
        call = DialogCall(self._updates.calls.new_id(), subject.to_json())
        self._updates.send({"sessionUpdate": "tool_call", **call.fields})
        try:
            yield call
        finally:
            status = "completed" if call.is_approved else "failed"
            self._updates.send({"sessionUpdate": "tool_call_update", "toolCallId": call.call_id, "status": status})

    async def request_permission(self, call: DialogCall, options: list[JsonValue]) -> str | None:
        """The id of the chosen option as the client sends it, empty if it sends none; None if it cancels."""
        params: JsonObject = {"sessionId": self._session_id, "toolCall": call.fields, "options": options}
        outcome = (await self._client.request("session/request_permission", params)).get("outcome")
        if not isinstance(outcome, Mapping):
            return ""
        chosen = outcome.get("optionId")
        match outcome.get("outcome"):
            case "cancelled":
                return None
            case "selected" if isinstance(chosen, str):
                return chosen
            case _:
                return ""

    async def show_form(self, message: str, schema: JsonObject, call_id: str | None = None) -> JsonObject | None:
        """The values of an accepted form as the client sends them, None if it was declined."""
        result = await self._elicit({"mode": "form", "message": message, "requestedSchema": schema}, call_id)
        content = result.get("content")
        return content if result.get("action") == "accept" and isinstance(content, Mapping) else None

    async def open_page(self, url: str, message: str) -> bool:
        """Let the user open a web page. Returns whether they agreed."""
        asked: JsonObject = {"mode": "url", "message": message, "elicitationId": random_token(), "url": url}
        return (await self._elicit(asked)).get("action") == "accept"

    async def _elicit(self, asked: JsonObject, call_id: str | None = None) -> JsonObject:
        scope: dict[str, JsonValue] = {"sessionId": self._session_id}
        if call_id is not None:
            scope["toolCallId"] = call_id
        return await self._client.request("elicitation/create", {**scope, **asked})

    def _describe(self, call: OpenCall, agent: str, subject: DialogSubject) -> JsonObject:
        described = self._updates.calls.describe_open(call, agent)
        locations = described["locations"] or list(subject.locations)
        content = [*subject.content, *self._updates.calls.terminal_content(call)]
        return {**described, "locations": locations, "content": content}


def random_token() -> str:
    """A random id that nobody can guess."""
    return os.urandom(12).hex()
