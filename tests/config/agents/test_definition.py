"""Every key of an agent's file: what it means, and which values make the agent broken."""

from typing import Any

import pytest

from tejat.config.agents.definition import parse_definition
from tejat.config.agents.errors import BrokenAgent
from tejat.config.agents.tool_list import KnownTools
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.provenance import Party, Provenance

MINE = Provenance(Party.USER, "/home/u/.gemini/agents/a.md")
KNOWN = KnownTools({name: name for name in ("read_file", "glob", "run_shell_command", "write_file")})
LEAST = {"name": "reviewer", "description": "Reviews code."}


def parse(body: str = "Review.", **fields: Any) -> tuple[SubagentDefinition, tuple[str, ...]]:
    return parse_definition({**LEAST, **fields}, body, provenance=MINE, known=KNOWN)


def reason(body: str = "Review.", **fields: Any) -> str:
    with pytest.raises(BrokenAgent) as broken:
        parse(body, **fields)
    return str(broken.value)


def test_the_least_that_an_agent_needs() -> None:
    definition, notes = parse()
    assert definition == SubagentDefinition("reviewer", "Reviews code.", "Review.", MINE)
    assert definition.tools is None
    assert (definition.max_turns, definition.timeout_minutes) == (30, 10.0)
    assert notes == ()


def test_all_keys() -> None:
    definition, notes = parse(
        display_name="The Reviewer",
        kind="local",
        tools=["read_file", "glob"],
        model="gemini-2.5-flash",
        temperature=0,
        max_turns=5,
        timeout_mins=120,
        mcp_servers={"own": {"command": "run", "args": ["x", 1]}},
    )
    assert definition.display_name == "The Reviewer"
    assert definition.tools == ("read_file", "glob")
    assert definition.model == "gemini-2.5-flash"
    assert definition.temperature == 0.0
    assert (definition.max_turns, definition.timeout_minutes) == (5, 120.0)
    assert definition.servers == {"own": {"command": "run", "args": ["x", "1"]}}
    assert notes == ()


def test_camel_case_and_inherit() -> None:
    definition, notes = parse(displayName="R", maxTurns=2, timeoutMins=3, model="inherit", mcpServers={})
    assert (definition.display_name, definition.max_turns, definition.timeout_minutes) == ("R", 2, 3.0)
    assert definition.model is None
    assert notes == ()


def test_two_spellings_of_one_key_are_broken() -> None:
    assert reason(max_turns=1, maxTurns=2) == "max_turns is defined twice"


def test_a_text_with_commas_is_a_list_of_tools() -> None:
    assert parse(tools="Read, Glob,Bash")[0].tools == ("read_file", "glob", "run_shell_command")


def test_an_empty_list_means_no_tools() -> None:
    assert parse(tools=[])[0].tools == ()
    assert parse(tools="")[0].tools == ()


def test_unknown_tools_are_left_out_and_told() -> None:
    definition, notes = parse(tools=["glob", "NotebookEdit"])
    assert definition.tools == ("glob",)
    assert notes == ("unknown tool NotebookEdit, which is left out",)


def test_an_agent_of_unknown_tools_only_is_broken() -> None:
    assert reason(tools=["NotebookEdit", "x"]) == "none of its tools exist here: NotebookEdit, x"


def test_disallowed_tools_are_taken_away() -> None:
    assert parse(disallowedTools=["Bash", "write_file"])[0].excluded_tools == ("run_shell_command", "write_file")
    assert parse(disallowedTools="Bash(rm:*)")[0].excluded_tools == ("run_shell_command",)
    assert parse(disallowedTools="Nothing")[1] == ("disallowedTools names unknown tools: Nothing",)


def test_permission_mode_can_only_tighten() -> None:
    assert parse(permissionMode="plan")[0].plan_only
    definition, notes = parse(permissionMode="bypassPermissions")
    assert not definition.plan_only
    assert notes == ("permissionMode bypassPermissions has no effect: an agent has the permissions of the session",)


def test_trust_of_an_own_server_is_dropped() -> None:
    definition, notes = parse(mcp_servers={"own": {"http_url": "https://x.example/mcp", "trust": True}})
    assert definition.servers == {"own": {"httpUrl": "https://x.example/mcp"}}
    assert notes == ("the MCP server own: trust has no effect",)


def test_tools_of_own_servers_are_known() -> None:
    definition, notes = parse(tools=["own__*", "mcp_own_read"], mcp_servers={"own": {"command": "run"}})
    assert definition.tools == ("own__*", "own__read")
    assert notes == ()


def test_unknown_keys_have_no_effect_and_are_told() -> None:
    definition, notes = parse(color="red", effort="high")
    assert definition == SubagentDefinition("reviewer", "Reviews code.", "Review.", MINE)
    assert notes == ("unknown keys color, effort, which have no effect",)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": None}, "it has no name"),
        ({"name": "Two Words"}, "must consist of lower-case letters"),
        ({"name": "a" * 65}, "must consist of lower-case letters"),
        ({"name": "read_file"}, "read_file is the name of a tool"),
        ({"description": None}, "it has no description"),
        ({"description": "  "}, "it has no description"),
        ({"description": 5}, "description must be a text"),
        ({"hooks": {"PreToolUse": []}}, "it has hooks"),
        ({"hooks": None}, "it has hooks"),
        ({"temperature": 2.1}, "temperature must be a number from 0 to 2"),
        ({"temperature": True}, "temperature must be a number from 0 to 2"),
        ({"max_turns": 0}, "max_turns must be an integer from 1 to 200"),
        ({"max_turns": 201}, "max_turns must be an integer from 1 to 200"),
        ({"max_turns": 2.5}, "max_turns must be an integer from 1 to 200"),
        ({"timeout_mins": 121}, "timeout_mins must be an integer from 1 to 120"),
        ({"timeout_mins": "10"}, "timeout_mins must be an integer from 1 to 120"),
        ({"tools": 3}, "tools must be a list of names"),
        ({"tools": ["glob", 3]}, "tools must be a list of names"),
        ({"mcp_servers": []}, "mcp_servers must be a map"),
        ({"mcp_servers": {"own": {"args": ["x"]}}}, "the MCP server own has neither command nor url"),
        ({"mcp_servers": {"own": {"command": 5}}}, "the MCP server own: command must be a text"),
        ({"mcp_servers": {"own": {"command": "x", "args": "y"}}}, "args must be a list of texts"),
        ({"mcp_servers": {"own": {"command": "x", "env": ["y"]}}}, "env must be a map of texts"),
        ({"mcp_servers": {"own": {"command": "x", "timeout": 0}}}, "timeout must be a number of milliseconds"),
    ],
)
def test_broken(fields: dict[str, Any], why: str) -> None:
    assert why in reason(**fields)


def test_a_server_of_the_session_keeps_its_name() -> None:
    known = KnownTools({}, frozenset({"files"}))
    fields = {**LEAST, "mcp_servers": {"files": {"command": "x"}}}
    with pytest.raises(BrokenAgent, match="its MCP server files has the name of one in the settings"):
        parse_definition(fields, "Body.", provenance=MINE, known=known)


def test_the_body_is_the_prompt() -> None:
    assert "it has no system prompt" in reason(" \n")
    assert reason("x" * 65_537) == "its system prompt is larger than 64 KB"
    assert parse("Use ${query} and ${anything}.")[0].prompt == "Use ${query} and ${anything}."
