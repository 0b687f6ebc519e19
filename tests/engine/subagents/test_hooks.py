"""Hooks around sub-agents: their start, their calls and their end."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv
from support.subagents import SubagentEnv, call, done, invoke
from tejat.core.agent.subagents import SubagentEnd


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    env = SubagentEnv(ProgramEnv(tmp_path.resolve()))
    env.agent("a", tools=["glob"])
    return env


def hook(agents: SubagentEnv, event: str, script: str, **more: object) -> Path:
    """Run a shell script on an event; `$LOG` is a file for its input."""
    log = agents.env.base / f"{event}.log"
    group = {"hooks": [{"type": "command", "command": f"LOG={log}; {script}"}], **more}
    agents.env.write_user_settings(hooks={event: [group]})
    return log


def inputs(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_calls_of_agents_are_named_to_hooks(agents: SubagentEnv) -> None:
    log = hook(agents, "BeforeTool", 'cat >> "$LOG"; echo >> "$LOG"')
    agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [call("glob", pattern="*"), done()]})
    seen = [(each["tool_name"], each.get("agent_name"), each.get("agent_id")) for each in inputs(log)]
    assert seen == [("invoke_agent", None, None), ("glob", "a", "a#1"), ("complete_task", "a", "a#1")]


def test_a_start_can_be_denied(agents: SubagentEnv) -> None:
    hook(agents, "SubagentStart", 'echo "Not now." >&2; exit 2')
    session = agents.run({"main": [invoke("a"), "ok"]})
    assert session.ended[0].reason is SubagentEnd.ERROR
    assert session.results()[0].startswith("Subagent 'a' failed. Error: Agent execution blocked: Not now.")


def test_a_start_can_be_given_context_by_name(agents: SubagentEnv) -> None:
    answer = json.dumps({"hookSpecificOutput": {"additionalContext": "Mind the gap."}})
    hook(agents, "SubagentStart", f"cat > \"$LOG\"; echo '{answer}'", matcher="a|b")
    agents.agent("other", tools=[])
    session = agents.run(
        {"main": [[invoke("a"), invoke("other")], "ok"], "agent:a#1": [done()], "agent:other#1": [done()]}
    )
    assert "Mind the gap." in session.model.requests_of("agent:a#1")[0].messages[0].text
    assert "Mind the gap." not in session.model.requests_of("agent:other#1")[0].messages[0].text


def test_an_end_can_be_objected_to(agents: SubagentEnv) -> None:
    log = hook(
        agents, "SubagentStop", 'cat >> "$LOG"; echo >> "$LOG"; grep -q true "$LOG" || { echo "More." >&2; exit 2; }'
    )
    session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [done("First."), done("Second.")]})
    assert session.results()[0].endswith("Second.")
    assert [(each["prompt_response"], each["stop_hook_active"]) for each in inputs(log)] == [
        ("First.", False),
        ("Second.", True),
    ]
    assert "More." in session.model.requests_of("agent:a#1")[1].messages[-1].text
