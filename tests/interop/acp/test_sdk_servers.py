"""The official Python package as the client: MCP servers that it brings along, over each transport."""

import asyncio
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from support.acp.scripts import call_topic
from support.acp.sdk_client import Agent, SdkClient, run_agent
from support.mcp.official_http_servers import official_servers
from support.program import ProgramEnv

SMALL_SERVER = Path(__file__).parent / "small_server.py"
FORMS = schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())


@pytest.fixture(scope="module")
def addresses() -> Generator[dict[str, str]]:
    with official_servers() as found:
        yield found


def prompt(env: ProgramEnv, server: Any, tool: str, args: dict[str, object], client: SdkClient) -> Agent:
    """Let the model call a tool of a server that the client brings along, in a folder that is trusted."""

    async def main() -> Agent:
        words = ("--trust", "-m", env.script(call_topic("Call", tool, args)))
        async with run_agent(env, *words, client=client) as agent:
            await agent.initialize(
                elicitation=schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
            )
            session = await agent.new_session(mcp_servers=[server])
            assert await agent.prompt(session, "Call it.") == "end_turn"
        return agent

    return asyncio.run(main())


def small_server() -> schema.McpServerStdio:
    greeting = schema.EnvVariable(name="GREETING", value="Hello")
    return schema.McpServerStdio(name="small", command=sys.executable, args=[str(SMALL_SERVER)], env=[greeting])


def test_stdio_with_variables_and_a_form(tmp_path: Path) -> None:
    def fill_in(request: dict[str, Any]) -> dict[str, Any]:
        assert "Where to?" in request["message"]
        return {"action": "accept", "content": {"city": "Rome"}}

    agent = prompt(ProgramEnv(tmp_path), small_server(), "small__travel", {}, SdkClient(elicit=fill_in))
    assert agent.text().endswith("Done.")
    assert len(agent.log.requests("elicitation/create")) == 1
    (asked,) = agent.log.requests("session/request_permission")
    assert "small" in str(asked["toolCall"])
    (call,) = agent.calls().values()
    assert call["status"] == "completed"
    assert "Hello from Rome" in str(call)


def test_they_wait_for_trust(tmp_path: Path) -> None:
    """They count as the user's own, and those need a trusted folder too."""
    env = ProgramEnv(tmp_path)
    client = SdkClient(lambda request: request["options"][0]["optionId"])

    async def main() -> None:
        script = call_topic("Call", "small__travel", {})
        async with run_agent(env, "-m", env.script(script), client=client) as agent:
            await agent.initialize(elicitation=FORMS)
            session = await agent.new_session(mcp_servers=[small_server()])
            assert await agent.prompt(session, "Call it.") == "end_turn"
            assert agent.text().endswith("Done.")

    asyncio.run(main())
    titles = [each["toolCall"]["title"] for each in client.log.requests("session/request_permission")]
    assert titles[0] == "Do you trust this folder?"
    assert len(titles) == 2


@pytest.mark.parametrize(
    ("model", "transport", "kind"), [(schema.HttpMcpServer, "stateful", "http"), (schema.SseMcpServer, "sse", "sse")]
)
def test_http_and_sse(tmp_path: Path, addresses: dict[str, str], model: Any, transport: str, kind: str) -> None:
    header = schema.HttpHeader(name="X-Greeting", value="Hello")
    server = model(name="official", url=addresses[transport], headers=[header], type=kind)
    agent = prompt(ProgramEnv(tmp_path), server, "official__add", {"a": 2, "b": 3}, SdkClient())
    assert agent.text().endswith("Done.")
    (call,) = agent.calls().values()
    assert call["status"] == "completed"
    assert "5" in str(call["content"])


def test_one_that_does_not_start_is_reported(tmp_path: Path) -> None:
    server = schema.McpServerStdio(name="broken", command=str(tmp_path / "missing"), args=[], env=[])
    agent = prompt(ProgramEnv(tmp_path), server, "broken__tool", {}, SdkClient())
    assert agent.text().endswith("Then not.")
    assert "MCP server broken (start): The server did not start" in agent.thoughts()
