"""A recorder at the client end of a transport, and raw responses for the other end."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from support.raw_server import Peer
from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure
from tejat.mcp.protocol import (
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
)
from tejat.mcp.transports.base import Transport
from tejat.workspace.http.client import HttpClient

SECONDS = 30
"""Timeout for anything on a busy machine."""

INITIALIZE: JsonObject = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}


class TransportRecorder:
    """The messages and failures that came over a transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.messages: list[JsonRpcMessage] = []
        self.losses: list[tuple[McpFailure, RequestId | None]] = []
        self._news = asyncio.Event()

    async def open(self) -> None:
        await self.transport.open(self._receive, self._lose)

    def _receive(self, message: JsonRpcMessage) -> None:
        self.messages.append(message)
        self._news.set()

    def _lose(self, failure: McpFailure, request_id: RequestId | None) -> None:
        self.losses.append((failure, request_id))
        self._news.set()

    async def wait_until(self, is_there: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not is_there():
                self._news.clear()
                await self._news.wait()

    async def outcome(self, request: JsonRpcRequest) -> JsonRpcResponse | JsonRpcError | McpFailure:
        """Send a request and wait for its outcome."""
        await self.transport.send(request)
        await self.wait_until(lambda: self._outcome_of(request.id) is not None)
        found = self._outcome_of(request.id)
        assert found is not None
        return found

    async def failure(self, request: JsonRpcRequest) -> McpFailure:
        found = await self.outcome(request)
        assert isinstance(found, McpFailure), found
        return found

    async def result(self, request: JsonRpcRequest) -> JsonObject:
        found = await self.outcome(request)
        assert isinstance(found, JsonRpcResponse), found
        return found.result

    async def initialize(self) -> JsonObject:
        """Perform the handshake."""
        answer = await self.result(JsonRpcRequest(0, "initialize", INITIALIZE))
        revision = answer["protocolVersion"]
        assert isinstance(revision, str)
        self.transport.set_revision(revision)
        await self.transport.send(JsonRpcNotification("notifications/initialized"))
        return answer

    def _outcome_of(self, request_id: RequestId) -> JsonRpcResponse | JsonRpcError | McpFailure | None:
        for message in self.messages:
            if isinstance(message, JsonRpcResponse | JsonRpcError) and message.id == request_id:
                return message
        return next((failure for failure, lost in self.losses if lost in (request_id, None)), None)


@asynccontextmanager
async def open_recorder(make: Callable[[HttpClient], Transport]) -> AsyncGenerator[TransportRecorder]:
    """A recorder on an open transport, closed at the end."""
    client = HttpClient(environment={}, use_proxies=False)
    end = TransportRecorder(make(client))
    try:
        await end.open()
        yield end
    finally:
        await end.transport.close()
        await client.close()


def http_response(status: str, body: bytes | str = b"", **headers: str) -> bytes:
    """A whole response. Keywords such as `content_type` become headers."""
    encoded = body.encode() if isinstance(body, str) else body
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, f"content-length: {len(encoded)}", "", ""]).encode() + encoded


def json_response(value: object, status: str = "200 OK", **headers: str) -> bytes:
    return http_response(status, json.dumps(value), content_type="application/json", **headers)


def sse_head(**headers: str) -> bytes:
    """The head of an event stream that ends with the connection."""
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    return ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + "".join(lines) + "\r\n").encode()


def sse_event(value: object, event_id: str | None = None) -> bytes:
    line = "" if event_id is None else f"id: {event_id}\n"
    return f"{line}data: {json.dumps(value)}\n\n".encode()


def result_message(request_id: RequestId, **result: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def scripted_server(
    *answers: "bytes | Callable[[Peer], Awaitable[None]]",
) -> "tuple[Callable[[Peer], Awaitable[None]], RequestLog]":
    """A server that answers one connection after the other, and logs the requests."""
    given = iter(answers)
    log = RequestLog()

    async def answer(peer: Peer) -> None:
        line, headers, body = await peer.request()
        log.lines.append(line)
        log.headers.append(headers)
        log.bodies.append(json.loads(body) if body else None)
        log.news.set()
        say = next(given, http_response("500 Internal Server Error"))
        if isinstance(say, bytes):
            await peer.send(say)
        else:
            await say(peer)

    return answer, log


class RequestLog:
    """The requests to a server, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[object] = []
        self.news = asyncio.Event()

    async def wait_for_requests(self, times: int) -> None:
        """Wait until the server has received that many requests."""
        async with asyncio.timeout(SECONDS):
            while len(self.lines) < times:
                self.news.clear()
                await self.news.wait()
