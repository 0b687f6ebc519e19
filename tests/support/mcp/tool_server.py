"""Tejat's tools served over MCP, and a fake client."""

import itertools
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tejat.app.tools.tool_host import ToolHostOptions, open_tool_host
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import (
    META_CAPABILITIES,
    META_REVISION,
    STATELESS_REVISIONS,
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
)
from tejat.ui.mcp_server.server_session import ServerSession
from tejat.ui.mcp_server.tool_server import ToolServer

ELICITATION_CAPABILITY: JsonObject = {"elicitation": {}}
SERVER_INFO_META: JsonObject = {
    "io.modelcontextprotocol/serverInfo": {"name": "tejat", "title": "Tejat", "version": "1.2.3"}
}


_open_sessions: dict[ToolServer, list[ServerSession]] = {}


@asynccontextmanager
async def tool_server(directory: Path, options: ToolHostOptions | None = None) -> AsyncGenerator[ToolServer]:
    """The tools in this directory, unless the options name another. Fake clients of it are closed at the end."""
    options = options or ToolHostOptions()
    if options.directories == (".",):
        options = replace(options, directories=(str(directory),))
    async with open_tool_host(options) as host:
        server = ToolServer(host, version="1.2.3")
        try:
            yield server
        finally:
            for session in _open_sessions.pop(server, ()):
                await session.close()
            server.close()


class FakeClient:
    """A client without a wire; `messages` are those it was sent. `answers` are its replies to requests."""

    def __init__(self, server: ToolServer, answers: Mapping[str, JsonObject | None] | None = None) -> None:
        self.client = ServerSession(server)
        _open_sessions.setdefault(server, []).append(self.client)
        self.messages: list[JsonRpcMessage] = []
        self._answers: Mapping[str, JsonObject | None] = {} if answers is None else answers
        self._ids = itertools.count(1)

    async def send(self, message: JsonRpcMessage) -> None:
        self.messages.append(message)
        if isinstance(message, JsonRpcRequest) and message.method in self._answers:
            answer = self._answers[message.method]
            refused = JsonRpcError(message.id, -1, "not here")
            self.client.handle_message(refused if answer is None else JsonRpcResponse(message.id, answer))

    async def request(self, method: str, params: JsonObject | None = None, request_id: RequestId | None = None) -> Any:
        """The result of a request, or its error; None if it was not answered."""
        request_id = next(self._ids) if request_id is None else request_id
        await self.client.handle_request(JsonRpcRequest(request_id, method, params), self.send)
        for message in self.messages:
            if isinstance(message, JsonRpcResponse | JsonRpcError) and message.id == request_id:
                return message.result if isinstance(message, JsonRpcResponse) else message
        return None

    async def initialize(self, capabilities: JsonObject | None = None, revision: str = "2025-11-25") -> Any:
        return await self.request("initialize", {"protocolVersion": revision, "capabilities": capabilities or {}})

    async def call(self, name: str, arguments: Mapping[str, JsonValue], **more: JsonValue) -> Any:
        return await self.request("tools/call", {"name": name, "arguments": arguments, **more})

    @property
    def requests(self) -> list[JsonRpcRequest]:
        return [message for message in self.messages if isinstance(message, JsonRpcRequest)]

    @property
    def notifications(self) -> list[JsonRpcNotification]:
        return [message for message in self.messages if isinstance(message, JsonRpcNotification)]


def envelope(capabilities: JsonObject | None = None, revision: JsonValue = STATELESS_REVISIONS[0]) -> JsonObject:
    return {META_REVISION: revision, META_CAPABILITIES: capabilities or {}}


def text_result(text: str, *, is_error: bool = False) -> JsonObject:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
