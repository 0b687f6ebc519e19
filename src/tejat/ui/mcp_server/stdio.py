"""The stdio transport: one message per line."""

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from tejat.core.sanitize import sanitize_summary
from tejat.mcp import protocol
from tejat.mcp.protocol import JsonRpcError, JsonRpcMessage, JsonRpcRequest
from tejat.mcp.transports.ndjson import DecodedLine, EndlessLine, InvalidLine, NdjsonDecoder
from tejat.ui.mcp_server.message_encoder import encode_reply
from tejat.ui.mcp_server.server_session import ServerSession
from tejat.ui.mcp_server.tool_server import ToolServer

_READ_BYTES = 65_536
_MAX_TASKS = 64
_MAX_WARNINGS = 20
_WRITE_SECONDS = 300.0


async def serve_stdio(server: ToolServer, *, source: int, sink: int, warn: Callable[[str], None]) -> None:
    """Serve one client until the input ends or the output closes, then stop everything. `warn` gets user messages."""
    input_, output = await _Input.open(source), await _Output.open(sink)
    connection = _StdioConnection(server, output, warn)
    try:
        with suppress(ConnectionError, TimeoutError):
            await connection.listen(input_)
    finally:
        await connection.close()
        input_.close()
        output.close()


class _StdioConnection:
    def __init__(self, server: ToolServer, output: "_Output", warn: Callable[[str], None]) -> None:
        self._client = ServerSession(server)
        self._output = output
        self._warn = warn
        self._warnings = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, source: "_Input") -> None:
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


class _Input:
    """Bytes from a pipe, socket, terminal or file. The descriptor is blocking again after `close`."""

    def __init__(self, source: int, reader: asyncio.StreamReader | None, close: Callable[[], None]) -> None:
        self._source = source
        self._reader = reader
        self.close = close

    @staticmethod
    async def open(source: int) -> "_Input":
        if _is_file(source):
            return _Input(source, None, lambda: None)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_READ_BYTES)
        was_blocking = os.get_blocking(source)
        file = os.fdopen(source, "rb", buffering=0, closefd=False)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)

        def close() -> None:
            transport.close()
            os.set_blocking(source, was_blocking)

        return _Input(source, reader, close)

    async def read(self) -> bytes:
        """Return the next bytes, empty at the end. Raises OSError."""
        if self._reader is not None:
            return await self._reader.read(_READ_BYTES)
        await asyncio.sleep(0)  # files never block: let other tasks run
        return os.read(self._source, _READ_BYTES)


class _Output:
    """Whole lines to a descriptor, which is blocking again after `close`."""

    def __init__(self, sink: int, writer: asyncio.StreamWriter | None, close: Callable[[], None]) -> None:
        self._sink = sink
        self._writer = writer
        self.close = close

    @staticmethod
    async def open(sink: int) -> "_Output":
        if _is_file(sink):
            return _Output(sink, None, lambda: None)
        loop = asyncio.get_running_loop()
        was_blocking = os.get_blocking(sink)
        file = os.fdopen(sink, "wb", buffering=0, closefd=False)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
        transport.set_write_buffer_limits(high=0)  # drain waits until the whole line is written

        def close() -> None:
            if not transport.is_closing():
                transport.abort()  # unwritten data has no reader any more
            os.set_blocking(sink, was_blocking)

        return _Output(sink, asyncio.StreamWriter(transport, protocol, None, loop), close)

    async def write(self, line: bytes) -> None:
        """Write a line. Raises OSError if the output is closed."""
        if self._writer is None:
            left = memoryview(line)
            while left:
                left = left[os.write(self._sink, left) :]
            return
        self._writer.write(line)
        async with asyncio.timeout(_WRITE_SECONDS):
            await self._writer.drain()


def _is_file(descriptor: int) -> bool:
    """Whether the descriptor cannot be polled: a file, or a device other than a terminal."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))
