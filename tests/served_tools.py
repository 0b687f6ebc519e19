"""Our tools as other agents have them: a server in a directory, and what a client says to it and hears."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tejat.app.serving import ServingOptions, open_tool_host
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import replace
from tejat.frontends.mcp_server.client import Client
from tejat.frontends.mcp_server.server import ToolServer
from tejat.mcp.protocol import (
    META_CAPABILITIES,
    META_REVISION,
    STATELESS_REVISIONS,
    Message,
    Notification,
    Refusal,
    Request,
    RequestId,
    Result,
)

FORMS: JsonObject = {"elicitation": {}}
SERVER: JsonObject = {"io.modelcontextprotocol/serverInfo": {"name": "tejat", "title": "Tejat", "version": "1.2.3"}}


@asynccontextmanager
async def tool_server(directory: Path, options: ServingOptions | None = None) -> AsyncGenerator[ToolServer]:
    """The tools in this directory, unless the options say where."""
    options = options or ServingOptions()
    if options.directories == (".",):
        options = replace(options, directories=(str(directory),))
    async with open_tool_host(options) as host:
        server = ToolServer(host, version="1.2.3")
        try:
            yield server
        finally:
            server.close()


class Visitor:
    """A client without a wire: what it is sent waits in `heard`. `answers` are what it answers to our requests."""

    def __init__(self, server: ToolServer, answers: Mapping[str, JsonObject | None] | None = None) -> None:
        self.client = Client(server)
        self.heard: list[Message] = []
        self._answers: Mapping[str, JsonObject | None] = {} if answers is None else answers
        self._ids = itertools.count(1)

    async def send(self, message: Message) -> None:
        self.heard.append(message)
        if isinstance(message, Request) and message.method in self._answers:
            answer = self._answers[message.method]
            refused = Refusal(message.id, -1, "not here")
            self.client.heard(refused if answer is None else Result(message.id, answer))

    async def ask(self, method: str, params: JsonObject | None = None, request_id: RequestId | None = None) -> Any:
        """The result of a request, or the error that it was refused with; None where nothing was answered."""
        request_id = next(self._ids) if request_id is None else request_id
        await self.client.request(Request(request_id, method, params), self.send)
        for message in self.heard:
            if isinstance(message, Result | Refusal) and message.id == request_id:
                return message.result if isinstance(message, Result) else message
        return None

    async def initialize(self, capabilities: JsonObject | None = None, revision: str = "2025-11-25") -> Any:
        return await self.ask("initialize", {"protocolVersion": revision, "capabilities": capabilities or {}})

    async def call(self, name: str, arguments: Mapping[str, JsonValue], **more: JsonValue) -> Any:
        return await self.ask("tools/call", {"name": name, "arguments": arguments, **more})

    @property
    def questions(self) -> list[Request]:
        return [message for message in self.heard if isinstance(message, Request)]

    @property
    def notifications(self) -> list[Notification]:
        return [message for message in self.heard if isinstance(message, Notification)]


def envelope(capabilities: JsonObject | None = None, revision: JsonValue = STATELESS_REVISIONS[0]) -> JsonObject:
    return {META_REVISION: revision, META_CAPABILITIES: capabilities or {}}


def told(text: str, *, is_error: bool = False) -> JsonObject:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


async def until(happened: Callable[[], object]) -> None:
    """Wait until a condition holds, for as long as a slow machine may need."""
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110 -- what is waited for happens outside of this loop, too
            await asyncio.sleep(0.02)
