"""Messages over pipes and files, good ones and bad ones, and how it ends."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from support.mcp.tool_server import tool_server
from support.wait import wait_until_async
from tejat.app.tools.tool_host import ToolHostOptions
from tejat.core.messages.types import JsonObject
from tejat.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from tejat.ui.mcp_server.stdio import serve_stdio

FREE = ToolHostOptions(sandbox="off", mode="yolo")
HELLO: JsonObject = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
PING: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG: JsonObject = {"jsonrpc": "2.0", "id": 1, "result": {}}


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def call(number: int, command: str) -> bytes:
    params = {"name": "run_shell_command", "arguments": {"command": command}}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


class Wires:
    """The client's ends of two pipes. They do not block."""

    def __init__(self, source: int, sink: int, complaints: list[str]) -> None:
        self.source = source
        self.sink = sink
        self.complaints = complaints
        self._received = b""
        for descriptor in (source, sink):
            os.set_blocking(descriptor, False)

    async def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self.write_now(left) :]
            await asyncio.sleep(0)

    def write_now(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self.sink, data)
        except BlockingIOError:
            return 0

    async def read(self) -> Any:
        """The next message."""
        async with asyncio.timeout(60):
            while b"\n" not in self._received:
                try:
                    self._received += os.read(self.source, 65_536)
                except BlockingIOError:
                    await asyncio.sleep(0.01)
        found, _, self._received = self._received.partition(b"\n")
        return json.loads(found)

    def hang_up(self) -> None:
        os.close(self.sink)
        self.sink = -1


def run_client(
    directory: Path, work: Callable[[Wires], Coroutine[Any, Any, object]], options: ToolHostOptions = FREE
) -> list[str]:
    """Serve somebody who does this and then hangs up, and see that it ends; what was complained about."""

    async def main() -> list[str]:
        ours, theirs = os.pipe(), os.pipe()
        complaints: list[str] = []
        wires = Wires(theirs[0], ours[1], complaints)
        try:
            async with tool_server(directory, options) as server, asyncio.timeout(100):
                serving = asyncio.create_task(
                    serve_stdio(server, source=ours[0], sink=theirs[1], warn=complaints.append)
                )
                await work(wires)
                if wires.sink >= 0:
                    wires.hang_up()
                await serving
                assert (os.get_blocking(ours[0]), os.get_blocking(theirs[1])) == (True, True)
        finally:
            for descriptor in (ours[0], theirs[1], wires.source):
                os.close(descriptor)
        return complaints

    return asyncio.run(main())


def test_requests_are_answered_in_order_and_calls_when_they_are_done(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(line(HELLO) + call(2, "sleep 0.2; echo done") + line(PING))
        assert [(await wires.read())["id"] for _ in range(3)] == [0, 1, 2]

    assert run_client(tmp_path, work) == []


@pytest.mark.parametrize(
    ("said", "request_id", "code"),
    [
        (b"hello there\n", None, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": \xff}\n', 4, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":' + b"[" * 100_000 + b"\n", 5, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":6,"method":"ping","params":[1]}\n', 6, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":"' + b"x" * (17 << 20) + b'"}\n', 7, INVALID_REQUEST),
        (b"[]\n", None, PARSE_ERROR),
        (b"NaN\n", None, PARSE_ERROR),
    ],
)
def test_what_is_no_message_is_refused_and_the_next_one_answered(
    tmp_path: Path, said: bytes, request_id: int | None, code: int
) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(said + line(PING))
        refused = await wires.read()
        assert (refused["id"], refused["error"]["code"]) == (request_id, code)
        assert await wires.read() == PONG

    (complaint,) = run_client(tmp_path, work)
    assert complaint.startswith("The client sent something that is no message, ")
    assert len(complaint) < 1_000


def test_a_batch_of_the_old_days(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(line([PING, {**PING, "id": 2}]))
        assert [await wires.read() for _ in range(2)] == [PONG, {**PONG, "id": 2}]

    run_client(tmp_path, work)


def test_an_answer_that_cannot_be_read_is_a_no(tmp_path: Path) -> None:
    hello: JsonObject = {**HELLO, "params": {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}}

    async def work(wires: Wires) -> None:
        await wires.write(line(hello) + call(2, "touch x"))
        await wires.read()
        assert (await wires.read())["method"] == "elicitation/create"
        await wires.write(b'{"jsonrpc":"2.0","id":"tejat-1","result":{"action":"accept","content":\xff}}\n')
        assert (await wires.read())["result"]["isError"] is True

    run_client(tmp_path, work, ToolHostOptions(sandbox="off"))
    assert list(tmp_path.iterdir()) == []


def test_not_every_bad_line_is_complained_about(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(b"x\n" * 100)
        for _ in range(100):
            assert (await wires.read())["id"] is None

    assert len(run_client(tmp_path, work)) == 20


def test_a_line_without_an_end_ends_it(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        block = b"x" * 65_536
        for _ in range((64 << 20) // len(block) + 1):
            await wires.write(block)
        assert (await wires.read())["error"]["message"] == "This line has no end."

    run_client(tmp_path, work)


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(line(PING).rstrip())
        wires.hang_up()
        assert await wires.read() == PONG

    run_client(tmp_path, work)


def test_a_flood_of_calls_is_refused(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(line(HELLO) + b"".join(call(number, "sleep 3600") for number in range(1, 201)))
        await wires.read()
        refused = [await wires.read() for _ in range(168)]
        assert {each["error"]["code"] for each in refused} == {INTERNAL_ERROR}
        assert {each["id"] for each in refused} <= set(range(1, 201))

    run_client(tmp_path, work)


def test_who_takes_no_answers_is_not_listened_to(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        taken, idle = 0, 0
        pings = line(PING) * 1_000
        while idle < 50:
            written = wires.write_now(pings)
            taken += written
            idle = 0 if written else idle + 1
            await asyncio.sleep(0.01)
        assert taken < 4 << 20
        os.close(wires.source)
        wires.source = os.open(os.devnull, os.O_RDONLY)

    run_client(tmp_path, work)


def test_who_is_slow_to_take_the_last_answers_gets_them_all(tmp_path: Path) -> None:
    async def work(wires: Wires) -> None:
        await wires.write(line(PING) * 3_000)
        wires.hang_up()
        await asyncio.sleep(0.3)
        assert [await wires.read() for _ in range(3_000)] == [PONG] * 3_000

    run_client(tmp_path, work)


def test_the_end_of_the_input_ends_what_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def work(wires: Wires) -> None:
        await wires.write(line(HELLO) + call(1, "echo $$ > pid; sleep 3600"))
        await wait_until_async(lambda: pid.exists() and pid.read_text())

    run_client(tmp_path, work)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


def test_files_will_do(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(line(PING) * 2)

    async def main() -> None:
        async with tool_server(tmp_path, FREE) as server:
            with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
                await serve_stdio(server, source=source.fileno(), sink=sink.fileno(), warn=print)

    asyncio.run(main())
    assert [json.loads(each) for each in (tmp_path / "out").read_text().splitlines()] == [PONG, PONG]


def test_nobody_at_all(tmp_path: Path) -> None:
    """/dev/null can be read and written, but nothing can wait for it."""

    async def main() -> None:
        async with tool_server(tmp_path, FREE) as server, asyncio.timeout(30):
            await serve_stdio(server, source=nowhere.fileno(), sink=nowhere.fileno(), warn=print)

    with Path("/dev/null").open("r+b") as nowhere:
        asyncio.run(main())
