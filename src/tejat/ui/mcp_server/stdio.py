"""The stdio transport: one message per line."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tejat.core.sanitize import sanitize_summary
from tejat.mcp import protocol
from tejat.mcp.protocol import JsonRpcError, JsonRpcMessage, JsonRpcRequest
from tejat.mcp.transports.ndjson import DecodedLine, EndlessLine, InvalidLine, NdjsonDecoder
from tejat.ui.mcp_server.message_encoder import encode_reply
from tejat.ui.mcp_server.server_session import ServerSession
from tejat.ui.mcp_server.tool_server import ToolServer
from tejat.ui.shared.stdio_pipes import PipeInput, PipeOutput

_MAX_TASKS = 64
_MAX_WARNINGS = 20


async def serve_stdio(server: ToolServer, *, source: int, sink: int, warn: Callable[[str], None]) -> None:
    """Serve one client until the input ends or the output closes, then stop everything. `warn` gets user messages."""
    input_, output = await PipeInput.open(source), await PipeOutput.open(sink)
    connection = _StdioConnection(server, output, warn)
    try:
        with suppress(ConnectionError, TimeoutError):
            await connection.listen(input_)
    finally:
        await connection.close()
        input_.close()
        output.close()


class _StdioConnection:
    def __init__(self, server: ToolServer, output: PipeOutput, warn: Callable[[str], None]) -> None:
        self._client = ServerSession(server)
        self._output = output
        self._warn = warn
        self._warnings = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, source: PipeInput) -> None:
        """Handle messages until the input ends. Raises OSError if the output is closed."""
        framer = NdjsonDecoder()
        while data := await source.read():
            for received in framer.feed(data):
                if isinstance(received, EndlessLine):
                    await self._send(JsonRpcError(None, protocol.INVALID_REQUEST, "This line has no end."))
                    return
                await self._receive(received)
        for received in framer.end():
            await self._receive(received)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._client.close()

    async def _receive(self, received: DecodedLine) -> None:
        """Answer quick requests at once: the client is not read until it has taken the answer."""
        match received:
            case JsonRpcRequest(method="tools/call"):
                await self._begin(received)
            case JsonRpcRequest():
                await self._client.handle_request(received, self._send)
            case InvalidLine():
                await self._reject(received)
            case EndlessLine():
                pass
            case _:
                self._client.handle_message(received)

    async def _begin(self, request: JsonRpcRequest) -> None:
        if len(self._tasks) >= _MAX_TASKS:
            why = "Too many calls at once. Wait for one of them."
            await self._send(JsonRpcError(request.id, protocol.INTERNAL_ERROR, why))
            return
        task = asyncio.create_task(self._client.handle_request(request, self._send))
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieve it: a failed send also ends the read loop

    async def _reject(self, unreadable: InvalidLine) -> None:
        self._warnings += 1
        if self._warnings <= _MAX_WARNINGS:
            start = sanitize_summary(unreadable.start)
            self._warn(f"The client sent something that is no message, {unreadable.reason}: {start}")
        if unreadable.answer_to is not None:
            self._client.handle_message(JsonRpcError(unreadable.answer_to, protocol.PARSE_ERROR, unreadable.reason))
            return
        code = protocol.INVALID_REQUEST if unreadable.request_id is not None else protocol.PARSE_ERROR
        await self._send(JsonRpcError(unreadable.request_id, code, f"This is no message: {unreadable.reason}."))

    async def _send(self, message: JsonRpcMessage) -> None:
        await self._output.write(encode_reply(message))
