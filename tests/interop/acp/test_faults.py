"""Clients that send nonsense, answer late or twice, disappear, or send very much."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.acp.message_log import Json
from support.acp.raw_client import RawClient, run_raw_agent
from support.acp.scripts import call_topic, text_topic
from support.acp.sdk_client import Agent, run_agent
from support.process_marks import is_alive, living_pids
from support.program import TEJAT, ProgramEnv
from support.source_tree import ROOT
from support.wait import wait_until, wait_until_async

EDIT = {"file_path": "${root}/price.py", "old_string": "cost = 1", "new_string": "cost = 2"}
SCRIPT = text_topic("Hello", "Good day.") + call_topic("Edit", "replace", EDIT)
CLIENT_PROGRAM = Path(__file__).parent / "client_program.py"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    env = ProgramEnv(tmp_path)
    (env.project / "price.py").write_text("cost = 1\n")
    return env


def run(env: ProgramEnv, scenario: Callable[[RawClient], Awaitable[None]], script: str = SCRIPT) -> None:
    async def main() -> None:
        async with run_raw_agent(env, "-m", env.script(script)) as client:
            await scenario(client)

    asyncio.run(main())


def answer(request: Json, kind: str = "allow_once") -> Json:
    """The answer to a permission request."""
    chosen = next(each["optionId"] for each in request["params"]["options"] if each["kind"] == kind)
    outcome = {"outcome": "selected", "optionId": chosen}
    return {"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}}


class TestNonsense:
    LINES = (
        (b"hello\n", PARSE_ERROR),
        (b"{\n", PARSE_ERROR),
        (b"\xff\xfe\x00\n", PARSE_ERROR),
        (b"[" * 100_000 + b"\n", PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 6, "method": 7}\n', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 8, "method": "session/fly", "params": {}}\n', METHOD_NOT_FOUND),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {}}\n', INVALID_PARAMS),
        (b'{"jsonrpc": "2.0", "id": 10, "method": "session/prompt", "params": [1]}\n', INVALID_REQUEST),
    )

    @pytest.mark.parametrize(("line", "code"), LINES, ids=[repr(line[:40]) for line, _ in LINES])
    def test_a_line_gets_an_error_and_the_session_goes_on(self, env: ProgramEnv, line: bytes, code: int) -> None:
        async def scenario(client: RawClient) -> None:
            session = await client.open_session()
            client.send_bytes(line)
            error = await client.receive(lambda message: "error" in message)
            assert error["error"]["code"] == code
            client.start_prompt(session, "Hello?")
            assert (await client.receive_answer())["result"] == {"stopReason": "end_turn"}

        run(env, scenario)

    def test_params_of_a_wrong_type(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient) -> None:
            session = await client.open_session()
            wrong: list[tuple[str, Json]] = [
                ("session/prompt", {"sessionId": session, "prompt": "text"}),
                ("session/prompt", {"sessionId": session, "prompt": [{"type": "text"}]}),
                ("session/prompt", {"sessionId": session, "prompt": [{"type": "image", "data": "!", "mimeType": "x"}]}),
                ("session/prompt", {"sessionId": 7, "prompt": []}),
                ("session/new", {"cwd": 7, "mcpServers": []}),
                ("session/new", {"cwd": str(env.project), "mcpServers": [{"name": "x"}]}),
                ("session/new", {"cwd": str(env.project), "mcpServers": {"x": 1}}),
                ("session/load", {"sessionId": [], "cwd": str(env.project), "mcpServers": []}),
                ("session/set_mode", {"sessionId": session, "modeId": 1}),
                ("session/list", {"cursor": "next"}),
                ("authenticate", {"methodId": {}}),
            ]
            for method, params in wrong:
                error = await client.request(method, params)
                assert error.get("error", {}).get("code") == INVALID_PARAMS, (method, params, error)
            client.start_prompt(session, "Hello?")
            assert (await client.receive_answer())["result"] == {"stopReason": "end_turn"}

        run(env, scenario)

    def test_unknown_notifications_and_answers_to_nothing_are_ignored(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient) -> None:
            session = await client.open_session()
            client.send({"jsonrpc": "2.0", "id": 5})
            client.send({"jsonrpc": "2.0", "id": 5, "result": {}})
            client.send({"jsonrpc": "2.0", "method": "session/dance", "params": {"sessionId": session}})
            client.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "nothing"}})
            client.start_prompt(session, "Hello?")
            assert (await client.receive_answer())["result"] == {"stopReason": "end_turn"}
            assert [message for message in client.received if "error" in message] == []

        run(env, scenario)


class TestAnswers:
    def edit(self, env: ProgramEnv, scenario: Callable[[RawClient, Json], Awaitable[None]]) -> str:
        """Run a prompt that asks for permission to edit; the text of the file afterwards."""

        async def prompt(client: RawClient) -> None:
            session = await client.open_session()
            client.start_prompt(session, "Edit.")
            await scenario(client, await client.receive_request("session/request_permission"))

        run(env, prompt)
        return (env.project / "price.py").read_text()

    def test_twice(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient, asked: Json) -> None:
            client.send(answer(asked, "reject_once"))
            client.send(answer(asked, "allow_once"))
            assert (await client.receive_answer())["result"] == {"stopReason": "end_turn"}
            client.send(answer(asked, "allow_once"))

        assert self.edit(env, scenario) == "cost = 1\n"

    def test_too_late(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient, asked: Json) -> None:
            session = asked["params"]["sessionId"]
            client.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
            assert (await client.receive_answer())["result"] == {"stopReason": "cancelled"}
            client.send(answer(asked, "allow_once"))
            client.start_prompt(session, "Hello?", 2)
            assert (await client.receive_answer(2))["result"] == {"stopReason": "end_turn"}

        assert self.edit(env, scenario) == "cost = 1\n"

    def test_the_option_of_another_question(self, env: ProgramEnv) -> None:
        """An id that an earlier question offered means nothing in a later one."""

        async def scenario(client: RawClient, asked: Json) -> None:
            old = answer(asked, "allow_once")["result"]
            client.send(answer(asked, "reject_once"))
            await client.receive_answer()
            client.start_prompt(asked["params"]["sessionId"], "Edit.", 2)
            again = await client.receive_request("session/request_permission")
            client.send({"jsonrpc": "2.0", "id": again["id"], "result": old})
            await client.receive_answer(2)

        assert self.edit(env, scenario) == "cost = 1\n"

    def test_the_option_of_another_session(self, env: ProgramEnv) -> None:
        """Two questions are open: an answer counts for its own one only."""

        async def scenario(client: RawClient, asked: Json) -> None:
            opened = await client.request("session/new", {"cwd": str(env.project), "mcpServers": []})
            other = opened["result"]["sessionId"]
            client.start_prompt(other, "Edit.", 2)
            second = await client.receive_request("session/request_permission")
            assert second["params"]["sessionId"] == other
            client.send({**answer(second), "id": asked["id"]})
            client.send({**answer(asked), "id": second["id"]})
            ended = [await client.receive(lambda message: message.get("id") in (1, 2) and "result" in message)]
            ended.append(await client.receive(lambda message: message.get("id") in (1, 2) and "result" in message))
            assert {each["id"] for each in ended} == {1, 2}

        assert self.edit(env, scenario) == "cost = 1\n"

    def test_a_prompt_that_is_cancelled_as_a_request(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient, asked: Json) -> None:
            client.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
            assert (await client.receive_answer())["result"] == {"stopReason": "cancelled"}
            client.send(answer(asked))
            client.start_prompt(asked["params"]["sessionId"], "Hello?", 2)
            assert (await client.receive_answer(2))["result"] == {"stopReason": "end_turn"}

        assert self.edit(env, scenario) == "cost = 1\n"

    @pytest.mark.parametrize(
        "result",
        [
            *({}, {"outcome": None}, {"outcome": "selected"}, {"outcome": {"outcome": "selected"}}, [], "yes", 7, None),
            {"outcome": {"outcome": "selected", "optionId": ["allow_once"]}},
            {"outcome": {"outcome": "cancelled", "optionId": "allow_once"}},
        ],
    )
    def test_that_are_none(self, env: ProgramEnv, result: Any) -> None:
        async def scenario(client: RawClient, asked: Json) -> None:
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
            await client.receive_answer()

        assert self.edit(env, scenario) == "cost = 1\n"

    def test_an_error(self, env: ProgramEnv) -> None:
        async def scenario(client: RawClient, asked: Json) -> None:
            error = {"code": -32603, "message": "I have no buttons"}
            client.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
            await client.receive_answer()

        assert self.edit(env, scenario) == "cost = 1\n"


class TestSizes:
    def test_a_prompt_of_64_megabytes(self, env: ProgramEnv) -> None:
        """It reaches the model whole; the window of this one is large enough."""

        async def main() -> None:
            async with run_agent(env, "-m", env.script("context_window = 1000000000\n" + SCRIPT)) as agent:
                await agent.initialize()
                session = await agent.new_session()
                text = "word " * ((64 << 20) // 5)
                assert await agent.prompt(session, f"{text}Hello?") == "end_turn"
                assert agent.text() == "Good day."
                assert await agent.prompt(session, "Hello?") == "end_turn"

        asyncio.run(main())


class TestDisappearing:
    def test_a_client_that_is_killed(self, env: ProgramEnv, mark: str) -> None:
        """Nothing of it is left, and the session can be loaded with all that had happened."""
        script = call_topic("Sleep", "run_shell_command", {"command": f"sleep {mark}"})
        command = [*TEJAT, "acp", "-m", env.script(script)]
        client = subprocess.Popen(
            [sys.executable, str(CLIENT_PROGRAM), str(env.project), "Sleep.", *command],
            env={**env.environment, "PYTHONPATH": os.pathsep.join((str(ROOT / "tests"), str(ROOT)))},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert client.stdout is not None
        session, agent = client.stdout.readline().split()
        wait_until(lambda: living_pids(f"sleep\0{mark}"))
        client.send_signal(signal.SIGKILL)
        client.communicate()
        wait_until(lambda: not is_alive(int(agent)), wanted="the end of the agent")
        wait_until(lambda: living_pids(f"sleep\0{mark}") == [], wanted="the end of its command")

        async def scenario(found: Agent) -> None:
            await found.connection.load_session(cwd=str(env.project), session_id=session)
            kinds = [update["sessionUpdate"] for update in found.log.updates()]
            assert kinds.count("user_message_chunk") == 1
            assert "tool_call" in kinds
            assert await found.prompt(session, "Hello?") == "end_turn"

        async def main() -> None:
            async with run_agent(env, "-m", env.script(SCRIPT)) as found:
                await found.initialize()
                await scenario(found)

        asyncio.run(main())

    @pytest.mark.parametrize("moment", ["initialize", "session", "stream", "command", "question"])
    def test_at_every_step(self, env: ProgramEnv, mark: str, moment: str) -> None:
        script = (
            text_topic("Count", "word " * 200, pause=0.5)
            + call_topic("Sleep", "run_shell_command", {"command": f"sleep {mark}"})
            + call_topic("Edit", "replace", EDIT)
        )

        async def scenario(client: RawClient) -> None:
            if moment == "initialize":
                client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
                return
            session = await client.open_session()
            if moment == "stream":
                client.start_prompt(session, "Count.")
                await client.receive(lambda message: "agent_message_chunk" in str(message))
            elif moment == "question":
                client.start_prompt(session, "Edit.")
                await client.receive_request("session/request_permission")
            elif moment == "command":
                client.start_prompt(session, "Sleep.")
                client.send(answer(await client.receive_request("session/request_permission")))
                await wait_until_async(lambda: living_pids(f"sleep\0{mark}"))

        run(env, scenario, script)
        assert living_pids(mark) == []
        assert (env.project / "price.py").read_text() == "cost = 1\n"

    def test_a_client_that_closes_only_its_output_does_not_stop_it(self, env: ProgramEnv) -> None:
        """The agent ends when it cannot write any more."""

        async def main() -> None:
            async with run_raw_agent(env, "-m", env.script(text_topic("Count", "word " * 100, pause=0.1))) as client:
                session = await client.open_session()
                client.start_prompt(session, "Count.")
                await client.receive(lambda message: "agent_message_chunk" in str(message))
                transport = client.process._transport.get_pipe_transport(1)  # pyright: ignore[reportAttributeAccessIssue]
                transport.close()
                await asyncio.wait_for(client.process.wait(), 60)

        asyncio.run(main())
