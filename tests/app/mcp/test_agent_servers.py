"""MCP servers of an agent's own: there as long as it runs, for it alone, and never trusted."""

from pathlib import Path

import pytest

from support.approver import FakeApprover
from support.external_tools import HOSTILE, hostile_server, tools_fault
from support.program import ProgramEnv
from support.subagents import SubagentEnv, SubagentSession, call, done, invoke
from tejat.core.agent.events import Noticed
from tejat.core.frozen import replace
from tejat.core.tools.base import ToolContext

OWN = {"command": HOSTILE[0], "args": [*HOSTILE[1:], tools_fault("note", "other")], "trust": True}


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    return SubagentEnv(ProgramEnv(tmp_path.resolve()))


def test_its_tools_are_for_the_agent_alone_and_ask(agents: SubagentEnv) -> None:
    agents.agent("a", tools=["own__note"], mcp_servers={"own": OWN})
    approver = FakeApprover()
    session = agents.run(
        {"main": [invoke("a"), call("own__note"), "ok"], "agent:a#1": [call("own__note"), done()]},
        approver=approver,
        trusts_folder=True,
    )
    [request, _] = session.model.requests_of("agent:a#1")
    assert [tool.name for tool in request.tools] == ["complete_task", "own__note"]
    assert [(question.agent, question.tool_name) for question in approver.questions] == [("a#1", "own__note")]
    assert session.inner_calls()[0][1].result.error is None
    assert "not found" in session.results()[1]
    assert "own__note" not in {tool.name for tool in session.model.requests_of("main")[0].tools}


def test_a_name_of_the_session_is_refused(agents: SubagentEnv) -> None:
    agents.env.write_user_settings(mcpServers={"own": hostile_server(tools_fault("mine"))})
    agents.agent("a", tools=["own__*"])

    async def use(session: SubagentSession) -> None:
        await session.prompt()
        definition = session.manager.subagents.find("a")
        assert definition is not None
        await session.manager.subagent_service.run(replace(definition, servers={"own": OWN}), "Go.", ToolContext())

    session = agents.run({"main": ["ok"], "agent:a#1": [done()]}, use, trusts_folder=True)
    [request] = session.model.requests_of("agent:a#1")
    assert [tool.name for tool in request.tools] == ["complete_task", "own__mine"]


def test_a_server_that_fails_leaves_the_agent_working(agents: SubagentEnv) -> None:
    agents.agent("a", tools=["glob", "own__*"], mcp_servers={"own": {"command": "/does/not/exist"}})
    session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [done("Anyway.")]}, trusts_folder=True)
    assert session.results()[0].endswith("Anyway.")
    notices = [event.message for event in session.events if isinstance(event, Noticed)]
    assert any("own" in notice for notice in notices)


def test_none_is_started_in_a_folder_that_is_not_trusted(agents: SubagentEnv) -> None:
    agents.agent("a", tools=["own__note"], mcp_servers={"own": OWN})
    session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [done()]})
    assert [tool.name for tool in session.model.requests_of("agent:a#1")[0].tools] == ["complete_task"]
