"""One server for as long as a session lasts: real programs, with every fault."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.mcp.clients import (
    SECONDS,
    RecordingClient,
    first_text,
    hostile_plan,
    living_pids,
    open_client,
    open_supervisor,
    python_plan,
    read_messages,
    read_methods,
)
from support.mcp.official_http_servers import official_servers
from support.mcp.transports import http_response, json_response
from support.raw_server import Peer, raw_server, run_checked
from support.wait import wait_until_async
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.mcp.client import CLIENT_LIMITS, ClientLimits, ServerPlan
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.sse import SseTransport
from tejat.mcp.transports.stdio import StdioTransport
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.mcp.types import ClientCallbacks, ConnectionStep, McpProgress, ServerFeatures, ServerState, ServerStatus
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

QUICK = replace(CLIENT_LIMITS, start=SECONDS, listing=1.0)
NEVER_BY_ITSELF = replace(CLIENT_LIMITS, reconnect_delays=())
PERHAPS = "The server exited with code 3. The call may or may not have been executed."
OFFICIAL = str(Path(__file__).parent / "official_server.py")
VISITING = str(Path(__file__).parent / "visiting_server.py")


async def failure_of(work: Coroutine[object, object, object]) -> McpFailure:
    with pytest.raises(McpFailure) as caught:
        await work
    return caught.value


def status_of(*faults: str, limits: ClientLimits = QUICK) -> ServerStatus:
    async def main() -> ServerStatus:
        async with open_client(*faults, limits=limits, handshake=1.0 if limits is QUICK else SECONDS) as mcp_client:
            return await mcp_client.wait_settled()

    return run_checked(main())


def test_from_the_start_to_the_end() -> None:
    async def main() -> list[ServerStatus]:
        async with open_client() as mcp_client:
            assert mcp_client.status == ServerStatus("bad", ServerState.DISCONNECTED, "stdio", "python")
            mcp_client.start()
            mcp_client.start()
            assert mcp_client.status.state is ServerState.CONNECTING
            status = await mcp_client.wait_settled()
            assert (len(status.features.tools), len(status.features.prompts)) == (9, 2)
            assert 0 < status.connect_seconds < SECONDS
            assert first_text(await mcp_client.call_tool("echo", {"text": "hi"})) == '{"text": "hi"}'
            assert (await mcp_client.read_resource("memo://one"))["contents"] == [
                {"uri": "memo://one", "text": "a memo"}
            ]
            assert "messages" in await mcp_client.get_prompt("greet", {"who": "you"})
            failed = {"content": [{"type": "text", "text": "it failed"}], "isError": True}
            assert await mcp_client.call_tool("fail", {}) == failed
        return mcp_client.statuses

    told = run_checked(main())
    assert [(status.state, status.step) for status in told] == [
        (ServerState.CONNECTING, ConnectionStep.START),
        (ServerState.CONNECTING, ConnectionStep.HANDSHAKE),
        (ServerState.CONNECTING, ConnectionStep.LIST),
        (ServerState.CONNECTED, None),
        (ServerState.DISCONNECTED, None),
    ]
    assert (told[-1].reason, told[-1].features) == ("The server session was closed.", ServerFeatures())


@pytest.mark.parametrize("mode", ["", "stateless"])
def test_the_official_server(mode: str) -> None:
    told: list[McpProgress] = []

    async def main() -> None:
        async with open_supervisor() as supervisor:
            mcp_client = RecordingClient(python_plan(supervisor, OFFICIAL, mode))
            status = await mcp_client.wait_settled()
            assert status.info is not None, status
            assert (status.info.name, status.info.version, status.info.instructions) == (
                "official",
                "7",
                "Add with care.",
            )
            assert status.info.revision == ("2026-07-28" if mode else "2025-11-25")
            assert [tool.name for tool in status.features.tools] == ["add", "count"]
            assert [prompt.name for prompt in status.features.prompts] == ["greet"]
            assert [resource.uri for resource in status.features.resources] == ["memo://one"]
            assert (await mcp_client.call_tool("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
            assert first_text(await mcp_client.call_tool("count", {"to": 3}, on_progress=told.append)) == "done"
            assert (await mcp_client.call_tool("add", {"a": "x"}))["isError"] is True
            assert "Hello, you!" in json.dumps(await mcp_client.get_prompt("greet", {"who": "you"}))
            assert "remember" in json.dumps(await mcp_client.read_resource("memo://one"))
            assert (await failure_of(mcp_client.read_resource("memo://none"))).problem is McpProblem.REFUSED
            await mcp_client.close()

    run_checked(main())
    assert told == [McpProgress(number, 3, f"at {number}") for number in (1, 2, 3)]


def test_an_official_server_that_wants_somebody_to_visit_an_address() -> None:
    address = "https://bank.example/in"
    asked: list[JsonObject] = []

    async def agree(alias: str, params: JsonObject) -> JsonObject:
        asked.append({"alias": alias, **params})
        return {"action": "accept"}

    async def main(host: ClientCallbacks) -> str:
        async with open_supervisor() as supervisor:
            mcp_client = RecordingClient(python_plan(supervisor, VISITING, alias="bank"), host)
            try:
                return first_text(await mcp_client.call_tool("deliver", {"address": address}))
            finally:
                await mcp_client.close()

    assert run_checked(main(ClientCallbacks(elicit=agree))) == "delivered after 3"
    assert asked == [
        {"alias": "bank", "mode": "url", "message": "Say who you are.", "url": address, "elicitationId": "v1"}
    ]
    with pytest.raises(McpFailure, match=f"asks you to open {address} in a browser first"):
        run_checked(main(ClientCallbacks()))


def test_official_servers_at_an_address() -> None:
    told: list[McpProgress] = []

    async def main(name: str, address: str, client: HttpClient) -> None:
        make = SseTransport if name == "sse" else StreamableHttpTransport
        mcp_client = RecordingClient(ServerPlan(name, "http", address, lambda: make(HttpChannel(client, address))))
        try:
            status = await mcp_client.wait_settled()
            assert status.state is ServerState.CONNECTED, status
            assert [tool.name for tool in status.features.tools][:2] == ["add", "slow"]
            assert (await mcp_client.call_tool("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
            assert first_text(await mcp_client.call_tool("slow", {"seconds": 0}, on_progress=told.append)) == "done"
            slow = asyncio.create_task(mcp_client.call_tool("slow", {"seconds": SECONDS * 10}))
            await mcp_client.call_tool("add", {"a": 2, "b": 3})
            slow.cancel()
            await asyncio.wait((slow,), timeout=SECONDS)
            assert slow.cancelled()
        finally:
            await mcp_client.close()

    async def scenes(addresses: dict[str, str]) -> None:
        client = HttpClient(environment={}, use_proxies=False)
        await asyncio.gather(*(main(name, address, client) for name, address in addresses.items()))
        await client.close()

    with official_servers() as addresses:
        run_checked(scenes(addresses))
    # Where the answer is one piece of JSON there is no room for progress.
    assert told == [McpProgress(1, 2, "on the way")] * 4


@pytest.mark.parametrize(
    ("faults", "step", "reason"),
    [
        (["silent=initialize"], "handshake", "The server did not complete the handshake within 1 seconds."),
        (["wrong-id=initialize"], "handshake", "The server did not complete the handshake within 1 seconds."),
        (["silent=tools/list"], "list", "The server did not answer within 1 seconds (tools/list)."),
        (["die=start"], "handshake", "The server exited with code 3."),
        (["die=initialize", "exit=0"], "handshake", "The server exited with code 0."),
        (["die=tools/list"], "list", "The server exited with code 3."),
        (["broken=tools/list"], "list", "The server returned an error: It <U+001B>[31mbroke<U+001B>[0m (code -32603)"),
        (["odd=tools/list"], "list", "The server's response is invalid"),
        (["no-capabilities"], "list", "No prompts, tools, or resources found on the server."),
        (
            ["refuse=tools/list", "refuse=prompts/list", "refuse=resources/list"],
            "list",
            "No prompts, tools, or resources found on the server.",
        ),
    ],
)
def test_servers_that_fail_on_the_way(faults: list[str], step: str, reason: str) -> None:
    limits = QUICK if "within" in reason else CLIENT_LIMITS
    status = status_of(*faults, "words=I \x1b[1mam\nunwell", limits=limits)
    assert (status.state, status.step, status.features) == (ServerState.DISCONNECTED, step, ServerFeatures())
    assert status.reason.startswith(reason)
    assert [line.replace("\x1b", "") for line in status.recent_output] == list(status.recent_output)
    assert "am" in status.recent_output[0]
    assert status.recent_output[1] == "unwell"
    assert status.connect_seconds > 0


@pytest.mark.parametrize("fault", ["banner", "bad-utf8", "crlf", "batch", "empty-lines", "halves", "stderr=3000000"])
def test_servers_that_are_odd_and_work(fault: str) -> None:
    status = status_of(fault, limits=CLIENT_LIMITS)
    assert (status.state, len(status.features.tools)) == (ServerState.CONNECTED, 9)


def test_the_states_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="tejat.mcp")
    status = status_of()
    assert [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "tejat.mcp"] == [
        ("INFO", f"{status.alias}: connecting"),
        ("INFO", f"{status.alias}: connected, tools: {len(status.features.tools)}"),
        ("INFO", f"{status.alias}: disconnected. The server session was closed."),
    ]


def test_a_program_that_is_not_there() -> None:
    def connect() -> Transport:
        assert supervisor is not None
        return StdioTransport(supervisor, "/nowhere/at-all", directory="/", environment={})

    async def main() -> ServerStatus:
        async with open_supervisor() as found:
            nonlocal supervisor
            supervisor = found
            mcp_client = RecordingClient(ServerPlan("bad", "stdio", "at-all", connect))
            status = await mcp_client.wait_settled()
            failure = await failure_of(mcp_client.call_tool("echo", {}))
            await mcp_client.close()
        assert failure.message == f"The MCP server 'bad' is not connected: {status.reason}"
        return status

    supervisor: ProcessSupervisor | None = None
    status = run_checked(main())
    assert (status.state, status.step) == (ServerState.DISCONNECTED, ConnectionStep.START)
    assert status.reason.startswith("The server did not start: cannot start its program")


def test_settings_that_say_nothing() -> None:
    def connect() -> Transport:
        raise McpFailure("Invalid configuration: missing everything.", McpProblem.CONFIGURATION)

    async def main() -> None:
        mcp_client = RecordingClient(ServerPlan("bad", "stdio", "", connect))
        status = await mcp_client.wait_settled()
        assert (status.state, status.step, status.reason) == (
            ServerState.DISCONNECTED,
            ConnectionStep.START,
            "Invalid configuration: missing everything.",
        )
        await mcp_client.close()

    run_checked(main())


@asynccontextmanager
async def remote(answer: Callable[[dict[str, str], JsonObject], bytes]) -> AsyncGenerator[RecordingClient]:
    """A link to a server at an address. It is given the headers and the message of each request."""

    async def serve(peer: Peer) -> None:
        while True:
            line, headers, body = await peer.request()
            is_told = line.startswith("POST") and "id" in json.loads(body)
            await peer.send(answer(headers, json.loads(body)) if is_told else http_response("202 Accepted"))

    client = HttpClient(environment={}, use_proxies=False)
    async with raw_server(serve) as server:
        mcp_client = RecordingClient(
            ServerPlan("far", "http", server.url, lambda: StreamableHttpTransport(HttpChannel(client, server.url)))
        )
        try:
            yield mcp_client
        finally:
            await mcp_client.close()
            await client.close()


def answered(message: JsonObject, result: JsonObject, **headers: str) -> bytes:
    return json_response({"jsonrpc": "2.0", "id": message["id"], "result": result}, **headers)


HELLO: JsonObject = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}


def test_a_server_that_wants_to_know_who_asks() -> None:
    """At first, or only later."""
    wants = http_response("401 Unauthorized", www_authenticate="Bearer")

    def later(_: object, message: JsonObject) -> bytes:
        if message["method"] == "tools/call":
            return wants
        return answered(message, {**HELLO, "tools": [{"name": "add"}]})

    async def main() -> None:
        async with remote(lambda *_: wants) as mcp_client:
            assert (await mcp_client.wait_settled()).state is ServerState.NEEDS_LOGIN
            failure = await failure_of(mcp_client.call_tool("add", {}))
            assert (failure.problem, failure.challenge) == (McpProblem.UNAUTHORIZED, "Bearer")
        async with remote(later) as mcp_client:
            assert (await mcp_client.wait_settled()).state is ServerState.CONNECTED
            assert (await failure_of(mcp_client.call_tool("add", {}))).problem is McpProblem.UNAUTHORIZED
            await mcp_client.wait_until(lambda status: status.state is ServerState.NEEDS_LOGIN)

    run_checked(main())


class TestRetry:
    """A server that has been told who asks, since."""

    def test_after_a_login_it_is_connected_and_listed(self) -> None:
        knows = False

        def answer(_: object, message: JsonObject) -> bytes:
            if not knows:
                return http_response("401 Unauthorized", www_authenticate="Bearer")
            return answered(message, {**HELLO, "tools": [{"name": "add"}]})

        async def main() -> None:
            nonlocal knows
            async with remote(answer) as mcp_client:
                assert (await mcp_client.wait_settled()).state is ServerState.NEEDS_LOGIN
                assert (await mcp_client.reconnect()).state is ServerState.NEEDS_LOGIN
                knows = True
                status = await mcp_client.reconnect()
                assert (status.state, status.reason) == (ServerState.CONNECTED, "")
                assert [tool.name for tool in status.features.tools] == ["add"]
                count = len(mcp_client.statuses)
                assert await mcp_client.reconnect() is status
                assert len(mcp_client.statuses) == count

        run_checked(main())

    def test_an_attempt_that_is_under_way_may_have_begun_too_early(self) -> None:
        asked: list[object] = []

        def answer(_: object, message: JsonObject) -> bytes:
            asked.append(message["method"])
            if len(asked) == 1:
                return http_response("401 Unauthorized", www_authenticate="Bearer")
            return answered(message, {**HELLO, "tools": [{"name": "add"}]})

        async def main() -> None:
            async with remote(answer) as mcp_client:
                mcp_client.start()
                assert (await mcp_client.reconnect()).state is ServerState.CONNECTED
            assert [status.state for status in mcp_client.statuses if status.step is None or status.reason] == [
                ServerState.NEEDS_LOGIN,
                ServerState.CONNECTED,
                ServerState.DISCONNECTED,
            ]

        run_checked(main())

    def test_one_that_was_never_started_and_one_that_was_closed(self) -> None:
        async def main() -> None:
            async with open_client() as mcp_client:
                assert (await mcp_client.reconnect()).state is ServerState.CONNECTED
            status = await mcp_client.reconnect()
            assert (status.state, status.reason) == (
                ServerState.DISCONNECTED,
                "The server session was closed.",
            )

        run_checked(main())


def test_a_session_that_the_server_has_forgotten_is_begun_anew() -> None:
    """What was asked in it was not done, so it is asked again."""
    sessions: list[str] = []

    def answer(headers: dict[str, str], message: JsonObject) -> bytes:
        if message["method"] == "initialize":
            sessions.append(f"s{len(sessions)}")
            return answered(message, HELLO, Mcp_Session_Id=sessions[-1])
        if message["method"] == "tools/list":
            return answered(message, {"tools": [{"name": "add"}]})
        if headers["mcp-session-id"] == "s0":
            return http_response("404 Not Found")
        return answered(message, {"content": [{"type": "text", "text": headers["mcp-session-id"]}]})

    async def main() -> None:
        async with remote(answer) as mcp_client:
            await mcp_client.wait_settled()
            assert first_text(await mcp_client.call_tool("add", {})) == "s1"

    run_checked(main())


def test_a_call_before_it_is_started_and_while_it_starts() -> None:
    async def main() -> list[str]:
        async with open_client() as mcp_client:
            return [
                first_text(found)
                for found in await asyncio.gather(*(mcp_client.call_tool("echo", {}) for _ in range(5)))
            ]

    assert run_checked(main()) == ["{}"] * 5


@pytest.mark.parametrize(
    ("tool", "fault", "outcome"),
    [
        ("add", "die=tools/call", PERHAPS),
        ("look", "die=tools/call", "{}"),
        ("set", "die=tools/call", "{}"),
    ],
)
def test_a_call_that_is_lost(tmp_path: Path, tool: str, fault: str, outcome: str) -> None:
    """Only what the server says can be done twice is done again."""
    log = tmp_path / "log"

    async def main() -> str:
        async with open_client(
            fault, f"once={tmp_path / 'once'}", f"record={log}", limits=NEVER_BY_ITSELF
        ) as mcp_client:
            await mcp_client.wait_settled()
            try:
                return first_text(await mcp_client.call_tool(tool, {}))
            except McpFailure as failure:
                lost = failure.message
            # The next call finds a new server.
            assert first_text(await mcp_client.call_tool("add", {"again": 1})) == '{"again": 1}'
            return lost

    assert run_checked(main()) == outcome
    assert read_methods(log).count("initialize") == 2
    assert read_methods(log).count("tools/call") == 2


def test_a_call_that_is_lost_twice_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> McpFailure:
        async with open_client("die=tools/call", f"record={log}", limits=NEVER_BY_ITSELF) as mcp_client:
            return await failure_of(mcp_client.call_tool("look", {}))

    assert run_checked(main()).message == "The server exited with code 3."
    assert read_methods(log).count("tools/call") == 2


def test_it_is_connected_again_by_itself_but_not_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "log"
    limits = replace(CLIENT_LIMITS, reconnect_delays=(0.05, 0.1, 0.2))

    async def main() -> None:
        async with open_client("die-after=tools/call", f"record={log}", limits=limits) as mcp_client:
            await mcp_client.wait_settled()
            for _ in range(3):
                await mcp_client.call_tool("add", {})
                await mcp_client.wait_until(lambda status: status.state is not ServerState.CONNECTED)
                assert mcp_client.status.features.tools
                await mcp_client.wait_until(lambda status: status.state is ServerState.CONNECTED)
            await mcp_client.call_tool("add", {})
            await mcp_client.wait_until(lambda status: status.state is ServerState.DISCONNECTED)
            await asyncio.sleep(0.5)
            assert (mcp_client.status.state, mcp_client.status.reason) == (
                ServerState.DISCONNECTED,
                "The server exited with code 3.",
            )
            # Whoever needs it gets it.
            assert first_text(await mcp_client.call_tool("add", {})) == "{}"

    run_checked(main())
    assert read_methods(log).count("initialize") == 5


def test_what_never_was_connected_is_not_tried_again() -> None:
    limits = replace(CLIENT_LIMITS, reconnect_delays=(0.01,) * 3)

    async def main() -> list[ServerStatus]:
        async with open_client("die=start", limits=limits) as mcp_client:
            await mcp_client.wait_settled()
            await asyncio.sleep(0.3)
            return list(mcp_client.statuses)

    assert [status.state for status in run_checked(main())].count(ServerState.DISCONNECTED) == 1


def test_limits_of_a_call(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with open_client(f"record={log}", seconds=1.0) as mcp_client:
            mcp_client._plan = replace(mcp_client._plan, timeout=SECONDS)
            await mcp_client.wait_settled()
            mcp_client._plan = replace(mcp_client._plan, timeout=1.0)
            hanging, endless, slow = await asyncio.gather(
                failure_of(mcp_client.call_tool("hang", {})),
                failure_of(mcp_client.call_tool("slow", {"steps": 1000, "seconds": 0.2})),
                mcp_client.call_tool("slow", {"steps": 4, "seconds": 0.4}),
            )
            assert first_text(slow) == "slow and steady"
            assert hanging.message == "The server did not answer within 1 seconds (tools/call)."
            assert endless.message == "The server did not answer within 4 seconds (tools/call)."
            await wait_until_async(lambda: read_methods(log).count("notifications/cancelled") == 2)
            assert mcp_client.status.state is ServerState.CONNECTED

    run_checked(main())


@pytest.mark.parametrize(
    ("fault", "problem", "lives"),
    [
        ("deep", McpProblem.MALFORMED, True),
        ("huge=70000000", McpProblem.TOO_LARGE, True),
        ("endless", McpProblem.TOO_LARGE, False),
    ],
)
def test_results_that_are_too_much(fault: str, problem: McpProblem, lives: bool) -> None:
    async def main() -> None:
        async with open_client(fault, limits=NEVER_BY_ITSELF) as mcp_client:
            await mcp_client.wait_settled()
            failure = await failure_of(mcp_client.call_tool("echo", {}))
            assert failure.problem is problem
            if lives:
                assert first_text(await mcp_client.call_tool("add", {})) == "{}"
            else:
                await mcp_client.wait_until(lambda status: status.state is ServerState.DISCONNECTED)

    run_checked(main())


def test_changes_are_looked_at_once_for_many(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with open_client("storm=500", f"record={log}") as mcp_client:
            await mcp_client.wait_settled()
            before = mcp_client.status.features
            for number in range(1, 4):
                await mcp_client.call_tool("change", {})
                await mcp_client.wait_until(lambda status, wanted=9 + number: len(status.features.tools) == wanted)
            assert before == replace(mcp_client.status.features, tools=before.tools)
            assert mcp_client.status.features.tools[9:][-1].name == "extra2"

    run_checked(main())
    assert read_methods(log).count("tools/list") < 20


def test_nothing_changed_is_looked_at_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with open_client("storm=1", f"record={log}") as mcp_client:
            await mcp_client.wait_settled()
            told = len(mcp_client.statuses)
            await wait_until_async(lambda: read_methods(log).count("tools/list") == 3)
            await asyncio.sleep(0.8)
            assert len(mcp_client.statuses) == told

    run_checked(main())
    assert read_methods(log).count("tools/list") == 3


def test_a_look_that_fails_leaves_what_was_known(tmp_path: Path) -> None:
    async def main() -> None:
        limits = replace(CLIENT_LIMITS, listing=0.5)
        once = tmp_path / "once"
        once.touch()
        async with open_client(
            "silent=prompts/list", f"once={once}", limits=replace(limits, listing=SECONDS)
        ) as mcp_client:
            mcp_client._limits = limits
            before = (await mcp_client.wait_settled()).features
            once.unlink()
            await mcp_client.call_tool("change", {})
            await wait_until_async(once.exists)
            await asyncio.sleep(0.8)
            assert mcp_client.status.features == before
            await mcp_client.call_tool("change", {})
            await mcp_client.wait_until(lambda status: len(status.features.tools) == 11)

    run_checked(main())


def test_questions_and_roots(tmp_path: Path) -> None:
    async def answer(alias: str, params: JsonObject) -> JsonObject:
        return {"action": "accept", "content": {"for": alias, **params}}

    async def main() -> None:
        async with open_client(f"record={tmp_path / 'log'}", host=ClientCallbacks(elicit=answer)) as mcp_client:
            await mcp_client.notify_roots_changed()
            asked = await mcp_client.call_tool("ask", {"method": "elicitation/create", "params": {"message": "?"}})
            assert json.loads(first_text(asked)) == {"action": "accept", "content": {"for": "bad", "message": "?"}}
            refused = await mcp_client.call_tool("ask", {"method": "sampling/createMessage"})
            assert json.loads(first_text(refused))["code"] == -32601
            await mcp_client.notify_roots_changed()

    run_checked(main())
    assert read_methods(tmp_path / "log").count("notifications/roots/list_changed") == 1


@pytest.mark.parametrize("may_sample", [True, False])
def test_only_a_server_that_may_asks_the_model(may_sample: bool) -> None:
    async def sample(alias: str, params: JsonObject) -> JsonObject:
        return {"for": alias, **params}

    async def main() -> object:
        async with open_supervisor() as supervisor:
            mcp_client = RecordingClient(
                replace(hostile_plan(supervisor), may_sample=may_sample), ClientCallbacks(sample=sample)
            )
            asked = await mcp_client.call_tool("ask", {"method": "sampling/createMessage", "params": {"a": 1}})
            await mcp_client.close()
            return json.loads(first_text(asked))

    refused = {"code": -32601, "message": "The model may not be asked here."}
    assert run_checked(main()) == ({"for": "bad", "a": 1} if may_sample else refused)


def test_a_call_can_be_cancelled_at_every_step(tmp_path: Path) -> None:
    """However far it has got: the server is told, nothing is left, and the next call works."""
    log = tmp_path / "log"

    async def cancelled_after(mcp_client: RecordingClient, steps: int, work: Coroutine[object, object, object]) -> None:
        task = asyncio.ensure_future(work)
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,), timeout=SECONDS)
        assert task.done()
        assert first_text(await mcp_client.call_tool("echo", {"n": steps})) == f'{{"n": {steps}}}'

    async def main() -> None:
        async with open_client(f"record={log}") as mcp_client:
            await mcp_client.wait_settled()
            for steps in range(61):
                await cancelled_after(mcp_client, steps, mcp_client.call_tool("hang", {}))
            for steps in range(61):
                await cancelled_after(mcp_client, steps, mcp_client.call_tool("echo", {}))

    run_checked(main())
    hanging = [
        message["id"]
        for message in read_messages(log)
        if message.get("method") == "tools/call" and message["params"]["name"] == "hang"  # type: ignore[index]
    ]
    taken_back = {
        message["params"]["requestId"]  # type: ignore[index]
        for message in read_messages(log)
        if message.get("method") == "notifications/cancelled"
    }
    assert len(hanging) >= 55
    assert set(hanging) <= taken_back


@pytest.mark.parametrize("fault", ["crlf", "silent=initialize", "silent=tools/list", "die=initialize"])
def test_it_can_be_closed_at_every_step(tmp_path: Path, fault: str) -> None:
    async def main() -> None:
        async with open_supervisor() as supervisor:
            for steps in (*range(0, 40, 3), 100, 300):
                mcp_client = RecordingClient(hostile_plan(supervisor, fault, f"pids={tmp_path / 'pids'}"))
                mcp_client.start()
                waiting = asyncio.create_task(mcp_client.call_tool("echo", {}))
                for _ in range(steps):
                    await asyncio.sleep(0)
                await asyncio.gather(mcp_client.close(), asyncio.create_task(mcp_client.close()))
                (outcome,) = await asyncio.gather(waiting, return_exceptions=True)
                if fault != "crlf" or isinstance(outcome, BaseException):  # a sound server may have answered
                    assert isinstance(outcome, McpFailure)
                    assert outcome.problem is McpProblem.CLOSED
                assert mcp_client.status.state is ServerState.DISCONNECTED
                assert (await failure_of(mcp_client.call_tool("echo", {}))).problem is McpProblem.CLOSED

    run_checked(main())
    if (tmp_path / "pids").exists():
        assert living_pids(tmp_path / "pids") == []


def test_closing_that_is_cancelled_goes_on_by_itself(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> None:
        async with open_supervisor() as supervisor:
            mcp_client = RecordingClient(hostile_plan(supervisor, "stubborn", f"pids={pids}"))
            await mcp_client.wait_settled()
            assert len(living_pids(pids)) == 3
            closing = asyncio.create_task(mcp_client.close())
            await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait((closing,))
            await mcp_client.wait_until(lambda status: status.state is ServerState.DISCONNECTED)
            await mcp_client.close()
            assert living_pids(pids) == []

    run_checked(main())


def test_a_stubborn_server_is_gone_in_time(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> float:
        async with open_supervisor() as supervisor:
            mcp_client = RecordingClient(hostile_plan(supervisor, "stubborn", f"pids={pids}"))
            await mcp_client.wait_settled()
            began = time.monotonic()
            await mcp_client.close()
            assert living_pids(pids) == []
            return time.monotonic() - began

    assert run_checked(main()) < 10


def test_a_listener_that_fails_harms_nobody() -> None:
    async def main() -> list[object]:
        told: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
        async with open_client() as mcp_client:
            note, mcp_client._on_change = mcp_client._note, lambda status: (note(status), {}["missing"])[0]
            await mcp_client.wait_settled()
            assert first_text(await mcp_client.call_tool("echo", {})) == "{}"
            mcp_client._on_change = note
        return told

    assert run_checked(main()) == ["a change of the MCP server 'bad' could not be told"] * 4


ENDINGS: dict[str, str] = {
    "returns": "return",
    "exits": "sys.exit(0)",
    "while it starts": "other = open_client('silent=initialize'); other.start(); await asyncio.sleep(0.3); return",
    "during a call": "task = asyncio.create_task(client.call_tool('hang', {})); await asyncio.sleep(0.1); return",
    "is interrupted": "os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(60)",
    "is closed meanwhile": "task = asyncio.create_task(client.close()); await asyncio.sleep(0); return",
}

PROGRAM = """
import asyncio, os, signal, sys
sys.path.insert(0, {tests!r})
from support.mcp.clients import RecordingClient, hostile_plan
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

supervisor = ProcessSupervisor()

def open_client(*faults):
    return RecordingClient(hostile_plan(supervisor, *faults, "pids=" + {pids!r}))

async def main():
    global client
    asyncio.get_running_loop().slow_callback_duration = 60  # the machine may be busy
    client = open_client("stubborn")
    await client.wait_settled()
    {ending}

try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
finally:
    supervisor.close()
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_ends(tmp_path: Path, ending: str) -> None:
    pids = tmp_path / "pids"
    code = PROGRAM.format(tests=str(Path(__file__).parents[1]), pids=str(pids), ending=ENDINGS[ending])

    async def main() -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-X", "dev", "-W", "error", "-c", code),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
        return process.returncode, output

    assert asyncio.run(main()) == (0, b"")
    assert living_pids(pids) == []


def test_a_check_comes_before_each_connection() -> None:
    connections: list[str] = []

    def connect() -> Transport:
        connections.append("connected")
        raise McpFailure("no transport", McpProblem.CONFIGURATION)

    def check() -> None:
        raise McpFailure("The server was not started: it changed.", McpProblem.CONFIGURATION)

    async def main() -> None:
        mcp_client = RecordingClient(ServerPlan("changed", "stdio", "", connect, check=check))
        status = await mcp_client.wait_settled()
        assert (status.state, status.reason) == (
            ServerState.DISCONNECTED,
            "The server was not started: it changed.",
        )
        await mcp_client.close()

    run_checked(main())
    assert connections == []
