"""Tests of the JSON-RPC connection to a client, over real pipes."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tejat.core.messages.types import JsonObject
from tejat.ui.acp.client import AcpConnection
from tejat.ui.jsonrpc.peer import PeerError, RequestError
from tejat.ui.shared.stdio_pipes import PipeInput, PipeOutput


class Handler:
    """Answers `echo` with its params, `wait` when it is released, and counts what it gets."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.notifications: list[tuple[str, JsonObject]] = []
        self.cancelled = 0

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        match method:
            case "echo":
                return params
            case "wait":
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    self.cancelled += 1
                    raise
                return {"waited": True}
            case "crash":
                raise KeyError("secret")
            case _:
                raise RequestError(-32601, f"Method not found: {method}", {"method": method})

    def handle_notification(self, method: str, params: JsonObject) -> None:
        self.notifications.append((method, params))
        if method == "crash":
            raise KeyError(method)


class Peer:
    """The client's side of the connection: raw lines."""

    def __init__(
        self, connection: AcpConnection, handler: Handler, reader: asyncio.StreamReader, write_fd: int
    ) -> None:
        self.connection = connection
        self.handler = handler
        self.warnings: list[str] = []
        self._reader = reader
        self._write_fd = write_fd

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        os.write(self._write_fd, data)

    async def send_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            sent = await asyncio.to_thread(os.write, self._write_fd, view[:65536])
            view = view[sent:]

    async def receive(self) -> Any:
        return json.loads(await asyncio.wait_for(self._reader.readuntil(b"\n"), 30))

    async def at_end(self) -> bool:
        return await asyncio.wait_for(self._reader.read(), 30) == b""

    def hang_up(self) -> None:
        if self._write_fd >= 0:
            os.close(self._write_fd)
            self._write_fd = -1


@asynccontextmanager
async def connect() -> AsyncGenerator[Peer]:
    to_agent, from_client = os.pipe()
    to_client, from_agent = os.pipe()
    warnings: list[str] = []
    connection, handler = AcpConnection(warnings.append), Handler()
    source, sink = await PipeInput.open(to_agent), await PipeOutput.open(from_agent)
    reader = asyncio.StreamReader(limit=200 << 20)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(to_client, "rb", buffering=0)
    )
    peer = Peer(connection, handler, reader, from_client)
    peer.warnings = warnings

    async def serve() -> None:
        await connection.serve(handler, source, sink)
        source.close()
        sink.close()
        os.close(from_agent)

    serving = asyncio.create_task(serve())
    try:
        yield peer
    finally:
        peer.hang_up()
        await asyncio.wait_for(serving, 30)
        transport.close()
        os.close(to_agent)


def run(test: Callable[[Peer], Awaitable[None]]) -> None:
    async def main() -> None:
        async with connect() as peer:
            await test(peer)

    asyncio.run(main())


def test_requests_are_answered_with_results_and_errors() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": {"a": 1}})
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
        peer.send({"jsonrpc": "2.0", "id": "x", "method": "nothing"})
        error = {"code": -32601, "message": "Method not found: nothing", "data": {"method": "nothing"}}
        assert await peer.receive() == {"jsonrpc": "2.0", "id": "x", "error": error}

    run(test)


def test_an_unexpected_exception_is_an_internal_error_without_its_text() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "crash"})
        answer = await peer.receive()
        assert answer["error"]["code"] == -32603
        assert "KeyError" in answer["error"]["message"]
        assert "secret" not in answer["error"]["message"]
        peer.send({"jsonrpc": "2.0", "method": "crash"})
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "echo", "params": {}})
        assert (await peer.receive())["id"] == 2

    run(test)


def test_a_slow_request_does_not_hold_up_others() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "wait"})
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "echo", "params": {}})
        assert (await peer.receive())["id"] == 2
        peer.handler.release.set()
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"waited": True}}

    run(test)


def test_a_request_can_be_cancelled_and_gets_one_answer() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "wait"})
        peer.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        peer.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 99}})
        peer.send({"jsonrpc": "2.0", "method": "$/cancel_request"})
        answer = await peer.receive()
        assert answer["id"] == 1
        assert answer["error"]["code"] == -32800
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "echo", "params": {}})
        assert (await peer.receive())["id"] == 2

    run(test)


def test_an_id_in_use_is_refused() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "wait"})
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "echo"})
        answer = await peer.receive()
        assert answer["error"]["code"] == -32600
        peer.handler.release.set()
        assert (await peer.receive())["result"] == {"waited": True}

    run(test)


def test_the_client_answers_requests_with_a_result_null_or_an_error() -> None:
    async def test(peer: Peer) -> None:
        async def ask() -> JsonObject:
            return await peer.connection.request("fs/read_text_file", {"path": "/a"})

        first = asyncio.create_task(ask())
        request = await peer.receive()
        assert request["method"] == "fs/read_text_file"
        peer.send({"jsonrpc": "2.0", "id": request["id"], "result": {"content": "x"}})
        assert await first == {"content": "x"}
        second = asyncio.create_task(ask())
        peer.send({"jsonrpc": "2.0", "id": (await peer.receive())["id"], "result": None})
        assert await second == {}
        third = asyncio.create_task(ask())
        error = {"code": -32002, "message": "Resource not found"}
        peer.send({"jsonrpc": "2.0", "id": (await peer.receive())["id"], "error": error})
        with pytest.raises(PeerError, match="Resource not found") as raised:
            await third
        assert raised.value.code == -32002

    run(test)


def test_late_doubled_and_foreign_answers_count_for_nothing() -> None:
    async def test(peer: Peer) -> None:
        asked = asyncio.create_task(peer.connection.request("a", {}))
        number = (await peer.receive())["id"]
        peer.send({"jsonrpc": "2.0", "id": 999, "result": {"who": "nobody"}})
        peer.send({"jsonrpc": "2.0", "id": str(number), "result": {"who": "another type of id"}})
        peer.send({"jsonrpc": "2.0", "id": number, "result": {"who": "first"}})
        peer.send({"jsonrpc": "2.0", "id": number, "result": {"who": "second"}})
        assert await asked == {"who": "first"}
        cancelled = asyncio.create_task(peer.connection.request("b", {}))
        number = (await peer.receive())["id"]
        cancelled.cancel()
        notice = await peer.receive()
        assert notice == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}}
        peer.send({"jsonrpc": "2.0", "id": number, "result": {}})
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {}})
        assert (await peer.receive())["result"] == {}

    run(test)


def test_nonsense_is_answered_and_the_connection_goes_on() -> None:
    async def test(peer: Peer) -> None:
        peer.send_bytes(b"hello\n")
        assert (await peer.receive())["error"]["code"] == -32700
        peer.send_bytes(b'{"jsonrpc":"2.0","id":5,"method":1}\n')
        await peer.receive()
        peer.send_bytes(b'{"jsonrpc":"2.0","id":5,"method":"echo","params":[1]}\n')
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (5, -32600)
        peer.send_bytes(b'\xff\xfe\n[]\n"text"\nnull\n\n')
        for _ in range(4):
            assert "error" in await peer.receive()
        peer.send({"jsonrpc": "2.0", "id": 6, "method": "echo", "params": {"still": "here"}})
        assert (await peer.receive())["result"] == {"still": "here"}
        assert peer.warnings

    run(test)


def test_messages_of_64_mb_pass_in_both_directions() -> None:
    async def test(peer: Peer) -> None:
        text = "x" * (64 << 20)
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"text": text}}).encode() + b"\n"
        sending = asyncio.create_task(peer.send_all(message))
        answer = await peer.receive()
        await sending
        assert len(answer["result"]["text"]) == 64 << 20

    run(test)


def test_a_message_over_the_limit_is_refused_and_the_next_one_read() -> None:
    async def test(peer: Peer) -> None:
        head = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"'
        sending = asyncio.create_task(peer.send_all(head + b"x" * (100 << 20) + b'"}}\n'))
        answer = await peer.receive()
        await sending
        assert (answer["id"], answer["error"]["code"]) == (1, -32600)
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "echo", "params": {}})
        assert (await peer.receive())["id"] == 2

    run(test)


def test_a_client_that_disappears_fails_our_requests_and_cancels_its_own() -> None:
    async def test(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "wait"})
        asked = asyncio.create_task(peer.connection.request("a", {}))
        await peer.receive()
        peer.hang_up()
        with pytest.raises(PeerError, match="closed"):
            await asked
        assert (await peer.receive())["error"]["code"] == -32800
        assert await peer.at_end()
        assert peer.handler.cancelled == 1
        peer.connection.notify("late", {})
        with pytest.raises(PeerError):
            await peer.connection.request("late", {})

    run(test)


def test_a_client_that_stops_reading_holds_up_only_itself() -> None:
    async def test(peer: Peer) -> None:
        for number in range(2000):
            peer.connection.notify("update", {"number": number, "text": "x" * 1000})
        await asyncio.sleep(0.05)
        numbers = [(await peer.receive())["params"]["number"] for _ in range(2000)]
        assert numbers == list(range(2000))

    run(test)
