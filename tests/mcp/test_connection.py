"""One connection, with servers that are real programs."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.mcp.clients import HOSTILE, SECONDS, first_text, open_supervisor, read_messages, read_methods
from support.raw_server import run_checked
from support.wait import wait_until_async
from tejat.core.messages.types import JsonObject
from tejat.mcp.connection import ServerConnection
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.jsonrpc_session import RequestTimeouts
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.stdio import StdioTransport
from tejat.mcp.types import ClientCallbacks

LONG = RequestTimeouts(idle=SECONDS, total=SECONDS)


class Seen(ServerConnection):
    changes = 0

    async def call(self, name: str, **arguments: object) -> str:
        params: JsonObject = {"name": name, "arguments": arguments}  # type: ignore[dict-item]
        return first_text(await self.request("tools/call", params, timeouts=LONG, on_progress=None))


@asynccontextmanager
async def connected(*faults: str, host: ClientCallbacks = ClientCallbacks()) -> AsyncGenerator[Seen]:  # noqa: B008
    async with open_supervisor() as supervisor:
        arguments = ("-SE", str(HOSTILE), *faults)
        transport = StdioTransport(supervisor, sys.executable, arguments, directory="/", environment=dict(os.environ))

        def change() -> None:
            connection.changes += 1

        connection = Seen(transport, ServerRequestHandler("bad", host), on_change=change, on_end=lambda _: None)
        try:
            await connection.session.open()
            await connection.negotiate(version="1")
            yield connection
        finally:
            await connection.session.close()


async def accept(alias: str, params: JsonObject) -> JsonObject:
    return {"action": "accept", "content": {"alias": alias, **params}}


def test_the_time_for_all_pages_together_is_bounded() -> None:
    async def main() -> None:
        async with connected("silent=tools/list") as connection:
            with pytest.raises(McpFailure) as caught:
                await connection.list_features(seconds=0.3)
            assert caught.value.problem is McpProblem.TIMED_OUT
        async with connected("silent=prompts/list") as connection:
            found = await connection.list_features(seconds=1)
            assert (len(found.tools), len(found.prompts), len(found.resources)) == (9, 0, 2)
            (problem,) = found.problems
            assert problem.startswith("Could not list prompts: The server did not answer within ")
            assert problem.endswith(" seconds (prompts/list).")
            with pytest.raises(McpFailure):
                await connection.list_features(seconds=0.3, is_strict=True)

    run_checked(main())


def test_marks_that_cannot_be_headers_are_for_stateless_servers() -> None:
    marked = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A b"}}}
    listed = {"tools": [{"name": "good", "inputSchema": {"type": "object"}}, {"name": "bad", "inputSchema": marked}]}

    async def offered(*faults: str) -> tuple[list[str], tuple[str, ...]]:
        async with connected(f"result=tools/list:{json.dumps(listed)}", *faults) as connection:
            features = await connection.list_features(seconds=SECONDS)
            return [tool.name for tool in features.tools], features.problems

    assert asyncio.run(offered()) == (["good", "bad"], ())
    told = "Skipped tool 'bad': it needs a header argument with an invalid name."
    assert asyncio.run(offered("stateless")) == (["good"], (told,))


def test_questions_in_rounds_are_for_stateless_servers() -> None:
    async def main() -> None:
        async with connected("stateless", host=ClientCallbacks(elicit=accept)) as connection:
            told = json.loads(await connection.call("ask", method="elicitation/create", params={"a": 1}))
            assert told == [{"one": {"action": "accept", "content": {"alias": "bad", "a": 1}}}, "kept"]
            with pytest.raises(McpFailure, match="after 10 rounds"):
                await connection.call("ask", method="roots/list", endless=True)
            with pytest.raises(McpFailure, match="not supported here"):
                await connection.call("ask", method="sampling/createMessage")
        odd = '{"resultType":"input_required","requestState":"x","content":[{"type":"text","text":"as it is"}]}'
        async with connected(f"result=tools/call:{odd}") as connection:
            assert await connection.call("echo") == "as it is"

    run_checked(main())


def test_a_stateless_server_is_asked_to_tell_of_changes(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with connected("stateless", f"record={log}") as connection:
            listening = asyncio.create_task(connection.listen())
            await wait_until_async(lambda: "subscriptions/listen" in read_methods(log))
            await connection.call("change")
            assert connection.changes == 1
            listening.cancel()
            await asyncio.wait((listening,))
            await wait_until_async(lambda: read_methods(log)[-1] == "notifications/cancelled")

    run_checked(main())
    asked = [message["params"] for message in read_messages(log) if message.get("method") == "subscriptions/listen"]
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    assert [params["notifications"] for params in asked] == [wanted]  # type: ignore[index]


@pytest.mark.parametrize(
    "faults", [(), ("stateless", 'capabilities={"tools":{}}'), ("stateless", "refuse=subscriptions/listen")]
)
def test_nothing_to_listen_to(faults: tuple[str, ...]) -> None:
    async def main() -> None:
        async with connected(*faults) as connection, asyncio.timeout(SECONDS):
            await connection.listen()

    run_checked(main())


def test_listening_is_taken_up_again_when_the_server_ends_it() -> None:
    async def main() -> None:
        async with connected("stateless", "result=subscriptions/listen:{}") as connection:
            listening = asyncio.create_task(connection.listen())
            await wait_until_async(lambda: connection.changes == 1)
            assert not listening.done()
            await connection.session.close()
            async with asyncio.timeout(SECONDS):
                await listening

    run_checked(main())


def test_roots_that_change_are_told_where_there_was_a_handshake(tmp_path: Path) -> None:
    async def main(*faults: str) -> None:
        async with connected(*faults, f"record={tmp_path / faults[0]}") as connection:
            await connection.notify_roots_changed()
            await connection.request("resources/read", {"uri": "a:b"}, timeouts=LONG, on_progress=None)

    run_checked(main("crlf"))
    run_checked(main("stateless"))
    assert read_methods(tmp_path / "crlf")[2:] == ["notifications/roots/list_changed", "resources/read"]
    assert read_methods(tmp_path / "stateless")[2:] == ["resources/read"]
