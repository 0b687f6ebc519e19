"""Sub-agents as the page shows them."""

from typing import Any

from tejat.core.agent.events import TextStreamed
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.ui.web.session.agent_tree import AgentTree


def shown(tree: AgentTree) -> list[Any]:
    return list(tree.to_json())


def test_agents_are_nested_in_those_that_started_them() -> None:
    tree = AgentTree("/p", lambda: 0.0)
    assert tree.handle_event(AgentStarted("helper-1", "helper", "c1", "Look at it.\nAll of it.", "m"))
    inner = AgentStarted("reader-1", "reader", "c2", "Read it.", "m")
    assert tree.handle_event(AgentActivity("helper-1", "helper", inner))
    assert not tree.handle_event(TextStreamed("x"))
    first, second = shown(tree)
    assert (first["id"], first["parent"], first["task"], first["state"]) == ("helper-1", "", "Look at it.", "running")
    assert (second["id"], second["parent"]) == ("reader-1", "helper-1")


def test_an_agent_that_failed_says_why() -> None:
    tree = AgentTree("/p", lambda: 0.0)
    tree.handle_event(AgentStarted("helper-1", "helper", "c1", "Look", "m"))
    tree.handle_event(AgentEnded("helper-1", "helper", SubagentEnd.TIMEOUT, error="It took too long."))
    (agent,) = shown(tree)
    assert agent["state"] != "running"
    assert agent["error"] == "It took too long."


def test_old_agents_are_forgotten_but_never_running_ones() -> None:
    tree = AgentTree("/p", lambda: 0.0)
    for number in range(300):
        tree.handle_event(AgentStarted(f"a-{number}", "a", "c", "Look", "m"))
        if number:
            tree.handle_event(AgentEnded(f"a-{number}", "a", SubagentEnd.GOAL))
    agents = shown(tree)
    assert len(agents) == 200
    assert agents[0]["id"] == "a-0"
