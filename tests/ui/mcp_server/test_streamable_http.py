"""The server over HTTP: who gets in, sessions, streams, and how it ends."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.mcp.tool_server import envelope, tool_server
from support.raw_server import run_checked
from support.wait import wait_until_async
from tejat.app.tools.tool_host import ToolHostOptions
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_REVISION,
)
from tejat.ui.mcp_server.streamable_http import ENDPOINT_PATH, serve_http
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

TOKEN = "a-token-that-nobody-guesses"
NOW = "2026-07-28"
FREE = ToolHostOptions(sandbox="off", mode="yolo")
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, int]:
        """The status, and the code of the protocol."""
        return self.status, self.json["error"]["code"]

    @property
    def events(self) -> list[Any]:
        assert self.headers["content-type"] == "text/event-stream"
        return [json.loads(line[6:]) for line in self.body.decode().split("\n") if line.startswith("data: ")]


class Site:
    """The server as a client knows it."""

    def __init__(self, port: int, client: HttpClient) -> None:
        self.port = port
        self.client = client

    async def ask(self, method: str, body: bytes = b"", **changes: str | None) -> Answer:
        """A request with the usual headers and these changes; `_` stands for `-` in names, None takes one away."""
        headers = {name.lower(): text for name, text in HEADERS.items()}
        for name, text in changes.items():
            headers.pop(name.replace("_", "-"), None)
            if text is not None:
                headers[name.replace("_", "-")] = text
        url = f"http://127.0.0.1:{self.port}{ENDPOINT_PATH}"
        async with self.client.request(method, url, headers=headers, body=[body]) as response:
            found = {name.lower(): text for name, text in response.headers.items()}
            return Answer(response.status, found, await response.read(1 << 25))

    async def knock(self, **changes: str | None) -> bytes:
        """The whole answer to a ping with headers that no honest client would send."""
        usual = {name.lower(): text for name, text in HEADERS.items()} | {"host": f"127.0.0.1:{self.port}"}
        headers = usual | {name.replace("_", "-"): text for name, text in changes.items()}
        body = json.dumps(request("ping"))
        lines = [f"{name}: {text}" for name, text in headers.items() if text is not None]
        head = "\r\n".join(
            [f"POST {ENDPOINT_PATH} HTTP/1.1", *lines, f"content-length: {len(body)}", "connection: close"]
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"{head}\r\n\r\n{body}".encode("latin-1"))
        answer = await reader.read()
        writer.close()
        return answer

    async def post(self, message: object, **changes: str | None) -> Answer:
        return await self.ask("POST", json.dumps(message).encode(), **changes)

    async def begin(self, capabilities: JsonObject | None = None) -> str:
        """The id of a new session."""
        params: JsonObject = {"protocolVersion": "2025-11-25", "capabilities": capabilities or {}}
        answer = await self.post(request("initialize", params))
        assert answer.status == 200
        return answer.headers["mcp-session-id"]

    async def stateless(self, method: str, params: JsonObject | None = None, **changes: str | None) -> Answer:
        given: dict[str, JsonValue] = {**(params or {}), "_meta": envelope()}
        headers = {"mcp_protocol_version": NOW, "mcp_method": method, "mcp_name": str(given.get("name", "")) or None}
        return await self.post(request(method, given), **(headers | changes))


def request(method: str, params: JsonObject | None = None, number: int = 1) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def shell(command: str, **more: JsonValue) -> JsonObject:
    return {"name": "run_shell_command", "arguments": {"command": command}, **more}


def visit(directory: Path, work: Callable[[Site], Awaitable[object]], options: ToolHostOptions = FREE) -> None:
    async def main() -> None:
        async with tool_server(directory, options) as server:
            found: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(serve_http(server, port=0, token=TOKEN, on_listening=found.set_result))
            client = HttpClient(environment={}, limits=HttpLimits(first_byte=60))
            try:
                await work(Site(await found, client))
            finally:
                await client.close()
                serving.cancel()
                await asyncio.wait((serving,))

    run_checked(main())


class TestGettingIn:
    @pytest.mark.parametrize(
        ("changes", "status"),
        [
            ({}, 400),  # in, but without a session
            ({"authorization": None}, 401),
            ({"authorization": f"Bearer {TOKEN}x"}, 401),
            ({"authorization": f"Basic {TOKEN}"}, 401),
            ({"authorization": "Bearer"}, 401),
            ({"authorization": "Bearer grün"}, 401),
            ({"authorization": f"Bearer {TOKEN}\r\nauthorization: Bearer {TOKEN}"}, 401),
            ({"host": None}, 400),
            ({"authorization": f"bearer  {TOKEN} "}, 400),
            ({"host": "evil.example"}, 421),
            ({"host": "localhost"}, 421),
            ({"host": "127.0.0.1:1"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"origin": "null"}, 403),
            ({"origin": "http://localhost"}, 403),
            ({"content_type": "text/plain"}, 415),
            ({"content_type": None}, 415),
            ({"content_type": "Application/JSON; charset=utf-8"}, 400),
            ({"accept": "application/json"}, 406),
            ({"accept": "text/event-stream;q=1"}, 406),
            ({"accept": "*/*"}, 400),
        ],
    )
    def test_only_who_may(self, tmp_path: Path, changes: dict[str, str | None], status: int) -> None:
        async def work(site: Site) -> None:
            answer = await site.knock(**changes)
            assert answer.startswith(f"HTTP/1.1 {status} ".encode())
            assert (b'\r\nwww-authenticate: Bearer realm="tejat"\r\n' in answer) == (status == 401)
            assert TOKEN.encode() not in answer

        visit(tmp_path, work)

    def test_names_of_this_machine(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            for name in ("localhost", "127.0.0.1"):
                here = f"{name}:{site.port}"
                answer = await site.knock(host=here, origin=f"http://{here}")
                assert answer.startswith(b"HTTP/1.1 400 ")
                assert b"mcp-session-id is missing" in answer

        visit(tmp_path, work)

    @pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
    def test_other_methods(self, tmp_path: Path, method: str) -> None:
        async def work(site: Site) -> None:
            answer = await site.ask(method)
            assert (answer.status, answer.headers["allow"]) == (405, "POST, DELETE")

        visit(tmp_path, work)

    def test_other_paths(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            async with site.client.request("POST", f"http://127.0.0.1:{site.port}/", body=[b""]) as response:
                assert response.status == 404

        visit(tmp_path, work)

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"", PARSE_ERROR),
            (b"hello", PARSE_ERROR),
            (b'"\xff"', PARSE_ERROR),
            (b"[" * 100_000, PARSE_ERROR),
            (b"[]", INVALID_REQUEST),
            (b'{"id": 1}', INVALID_REQUEST),
        ],
    )
    def test_bodies_that_are_no_message(self, tmp_path: Path, body: bytes, code: int) -> None:
        async def work(site: Site) -> None:
            assert (await site.ask("POST", body)).error == (400, code)

        visit(tmp_path, work)

    def test_a_body_that_is_too_long(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            assert (await site.ask("POST", b"x" * (17 << 20))).status == 413

        visit(tmp_path, work)


class TestSessions:
    def test_from_the_beginning_to_the_end(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("hello\n")

        async def work(site: Site) -> None:
            session = await site.begin()
            told = await site.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_session_id=session)
            assert (told.status, told.body) == (202, b"")
            params: JsonObject = {"name": "read_file", "arguments": {"path": str(tmp_path / "a.txt")}}
            read = await site.post(
                request("tools/call", params), mcp_session_id=session, mcp_protocol_version="2025-11-25"
            )
            assert read.headers["content-type"] == "application/json"
            assert read.json["result"]["content"] == [{"type": "text", "text": "hello\n"}]
            unknown = await site.post(request("nothing"), mcp_session_id=session)
            assert unknown.error == (200, METHOD_NOT_FOUND)
            assert (await site.ask("DELETE", mcp_session_id=session)).status == 204
            assert (await site.post(request("ping"), mcp_session_id=session)).error == (404, INVALID_REQUEST)
            assert (await site.ask("DELETE", mcp_session_id=session)).status == 404

        visit(tmp_path, work)

    def test_nobody_else_gets_in(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            first, second = await site.begin(), await site.begin()
            assert len({first, second}) == 2
            assert (await site.post(request("ping"), mcp_session_id=f"{first}x")).error == (404, INVALID_REQUEST)
            assert (await site.post(request("initialize"), mcp_session_id=first)).error == (200, INVALID_REQUEST)
            assert (await site.ask("DELETE")).status == 404
            assert (await site.post(request("ping"), mcp_session_id=second)).status == 200

        visit(tmp_path, work)

    def test_there_are_not_too_many(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            for _ in range(32):
                await site.begin()
            assert (await site.post(request("initialize"))).error == (503, INTERNAL_ERROR)

        visit(tmp_path, work)

    def test_they_expire(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async def work(site: Site) -> None:
            session = await site.begin()
            monkeypatch.setattr("tejat.ui.mcp_server.streamable_http._SESSION_SECONDS", 0.0)
            await asyncio.sleep(0.01)
            assert (await site.post(request("ping"), mcp_session_id=session)).error == (404, INVALID_REQUEST)

        visit(tmp_path, work)

    def test_a_question_comes_in_the_stream_and_its_answer_by_another_way(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            session = await site.begin({"elicitation": {}})
            called = asyncio.create_task(site.post(request("tools/call", shell("touch x")), mcp_session_id=session))
            answer: JsonObject = {"action": "accept", "content": {"decision": "allow once"}}
            while not called.done():
                result = {"jsonrpc": "2.0", "id": "tejat-1", "result": answer}
                assert (await site.post(result, mcp_session_id=session)).status == 202
                await asyncio.sleep(0.05)
            question, result = (await called).events
            assert question["method"] == "elicitation/create"
            assert result["result"]["isError"] is False

        visit(tmp_path, work, ToolHostOptions(sandbox="off"))
        assert (tmp_path / "x").exists()

    def test_progress_comes_in_the_stream(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            session = await site.begin()
            params = shell("echo one; sleep 0.6", _meta={"progressToken": 7})
            *progress, result = (await site.post(request("tools/call", params), mcp_session_id=session)).events
            assert progress[0]["params"] == {"progressToken": 7, "progress": 1, "message": "one\n"}
            assert result["id"] == 1

        visit(tmp_path, work)

    def test_a_call_that_is_called_off_ends_its_stream(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            session = await site.begin()
            called = asyncio.create_task(
                site.post(request("tools/call", shell("touch begun; sleep 3600"), 9), mcp_session_id=session)
            )
            await wait_until_async((tmp_path / "begun").exists)
            off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
            assert (await site.post(off, mcp_session_id=session)).status == 202
            assert (await called).events == []

        visit(tmp_path, work)

    def test_a_silent_call_keeps_its_connection(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tejat.ui.mcp_server.streamable_http._KEEP_ALIVE_SECONDS", 0.1)

        async def work(site: Site) -> None:
            session = await site.begin()
            answer = await site.post(request("tools/call", shell("sleep 0.5")), mcp_session_id=session)
            assert answer.body.startswith(b": still at it\n\n: still at it\n\n")
            assert [event["id"] for event in answer.events] == [1]

        visit(tmp_path, work)


class TestWithoutSessions:
    def test_a_request_stands_for_itself(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            answer = await site.stateless("tools/list")
            assert answer.status == 200
            assert "mcp-session-id" not in answer.headers
            assert answer.json["result"]["resultType"] == "complete"

        visit(tmp_path, work)

    def test_errors_have_their_status(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            assert (await site.stateless("nothing")).error == (404, METHOD_NOT_FOUND)
            assert (await site.stateless("tools/call", {"name": "x"})).error == (400, INVALID_PARAMS)
            assert (await site.stateless("tools/list", mcp_method="ping")).error == (400, HEADER_MISMATCH)
            assert (await site.stateless("tools/list", mcp_protocol_version=None)).error == (400, HEADER_MISMATCH)
            assert (await site.post(request("ping"), mcp_protocol_version="2031-01-01")).error == (400, INVALID_PARAMS)
            later: JsonObject = {"_meta": envelope(revision="2031-01-01")}
            headers = {"mcp_protocol_version": "2031-01-01", "mcp_method": "ping"}
            assert (await site.post(request("ping", later), **headers)).error == (400, UNSUPPORTED_REVISION)

        visit(tmp_path, work)

    def test_what_is_told_is_taken_and_left_alone(self, tmp_path: Path) -> None:
        async def work(site: Site) -> None:
            told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            assert (await site.post(told, mcp_protocol_version=NOW)).status == 202
            assert (await site.post(told, mcp_protocol_version="2031-01-01")).error == (400, UNSUPPORTED_REVISION)

        visit(tmp_path, work)


@pytest.mark.parametrize("has_session", [True, False])
def test_who_hangs_up_ends_the_call(tmp_path: Path, has_session: bool) -> None:
    pid = tmp_path / "pid"

    async def work(site: Site) -> None:
        params = shell("echo $$ > pid; sleep 3600")
        if has_session:
            asked = site.post(request("tools/call", params), mcp_session_id=await site.begin())
        else:
            asked = site.stateless("tools/call", params)
        called = asyncio.create_task(asked)
        await wait_until_async(lambda: pid.exists() and pid.read_text())
        called.cancel()
        await wait_until_async(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())

    visit(tmp_path, work)


def test_the_end_of_the_server_ends_the_calls(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    called: list[asyncio.Task[Answer]] = []

    async def work(site: Site) -> None:
        params = shell("echo $$ > pid; sleep 3600")
        called.append(asyncio.create_task(site.stateless("tools/call", params)))
        await wait_until_async(lambda: pid.exists() and pid.read_text())
        called[0].add_done_callback(lambda task: task.cancelled() or task.exception())

    visit(tmp_path, work)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert isinstance(called[0].exception(), HttpFailure)
