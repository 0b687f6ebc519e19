"""`/tools`."""

from support.command_runner import CommandEnv
from support.external_tools import hostile_server, tools_fault


def test_names(env: CommandEnv) -> None:
    lines = env.output_of("/tools").splitlines()
    assert lines[0] == "Available tools:"
    assert lines[1:4] == [
        "  - ReadFolder (list_directory)",
        "  - ReadFile (read_file)",
        "  - SearchText (search_file_content)",
    ]
    assert env.output_of("/tools nodesc").splitlines() == lines


def test_descriptions(env: CommandEnv) -> None:
    env.write_user_settings(tools={"core": ["list_directory"]})
    lines = env.output_of("/tools desc").splitlines()
    assert lines[:2] == ["Available tools:", "  - ReadFolder (list_directory)"]
    assert all(line.startswith("      ") or not line for line in lines[2:])
    assert len(lines) > 2


def test_none(env: CommandEnv) -> None:
    env.write_user_settings(tools={"core": []})
    assert env.output_of("/tools") == "Available tools:\n  No tools available"


def test_those_of_servers_and_forbidden_ones_are_left_out(env: CommandEnv) -> None:
    env.write_user_settings(mcpServers={"bad": hostile_server(tools_fault("far"))}, tools={"exclude": ["glob"]})
    shown = env.output_of("/mcp refresh", "/tools")
    assert "far" not in shown
    assert "FindFiles" not in shown


def test_any_other_word(env: CommandEnv) -> None:
    assert env.output_of("/tools all") == "Usage: /tools [desc | nodesc]"
