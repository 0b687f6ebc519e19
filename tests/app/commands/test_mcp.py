"""`/mcp`."""

from pathlib import Path
from typing import Any

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.external_tools import gated_server, hostile_server, tools_fault

SCHEMA = {"type": "object", "properties": {"far": {"type": "string"}}}
GO = {"name": "go", "description": "Goes\nfar.", "inputSchema": SCHEMA}
NONE = "No MCP servers configured. Add one with `tejat mcp add`. See `tejat docs mcp`."
USAGE = "Usage: /mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    env = CommandEnv(tmp_path)
    env.write_user_settings(mcpServers={"far": hostile_server(tools_fault(GO, "stay"))})
    return env


def shown(env: CommandEnv, line: str, **more: Any) -> str:
    async def work(runner: CommandRunner) -> str:
        assert runner.parts.toolset.external is not None
        await runner.parts.toolset.external.wait_ready()
        return await runner.output_of(line)

    return env.run_with(work, **more)


@pytest.mark.parametrize("line", ["/mcp", "/mcp list", "/mcp nodesc"])
def test_names(env: CommandEnv, line: str) -> None:
    lines = shown(env, line).splitlines()
    assert lines[:4] == ["Configured MCP servers:", "far - Ready (2 tools)", "  - far__go", "  - far__stay"]


def test_descriptions(env: CommandEnv) -> None:
    lines = shown(env, "/mcp desc").splitlines()
    assert lines[2:6] == ["  - far__go", "      From MCP server far: Goes", "      far.", "  - far__stay"]


def test_schemas(env: CommandEnv) -> None:
    text = shown(env, "/mcp schema")
    assert "  - far__go\n      From MCP server far: Goes\n      far.\n      Parameters:\n{\n" in text
    assert '"far": {' in text


def test_no_servers(tmp_path: Path) -> None:
    assert CommandEnv(tmp_path).output_of("/mcp") == NONE


def test_one_without_tools(env: CommandEnv) -> None:
    env.write_user_settings(mcpServers={"far": hostile_server(tools_fault())})
    lines = shown(env, "/mcp").splitlines()
    assert lines[:3] == ["Configured MCP servers:", "far - Ready (0 tools)", "  No tools available"]
    assert lines[3].startswith("  Prompts: greet")
    assert lines[4:] == ["  Resources: 2"]


def test_while_they_start(env: CommandEnv) -> None:
    gate = env.base / "gate"
    env.write_user_settings(mcpServers={"slow": gated_server(gate, tools_fault("go"))})

    async def work(runner: CommandRunner) -> tuple[str, str]:
        external = runner.parts.toolset.external
        assert external is not None
        assert await external.wait_ready(0.01) != ()
        while external.mcp_manager is None:
            await external.wait_ready(0.01)
        before = await runner.output_of("/mcp")
        gate.touch()
        await external.wait_ready()
        return before, await runner.output_of("/mcp")

    before, after = env.run_with(work)
    assert before == (
        "Configured MCP servers:\n"
        "MCP servers are starting up (1 initializing)...\n"
        "Note: First startup may take longer. Tool availability will update automatically.\n"
        "slow - Starting... (first startup may take longer) (tools will appear when ready)"
    )
    assert after.splitlines()[1] == "slow - Ready (1 tool)"


def test_those_that_failed_are_off_or_not_trusted(env: CommandEnv) -> None:
    env.write_user_settings(
        mcpServers={
            "dead": {
                "command": "/bin/sh",
                "args": ["-c", "echo $KEY >&2; exit 3"],
                "env": {"API_KEY": "s3cr3t-0f-mine"},
            },
            "off": hostile_server(),
            "out": hostile_server(),
        },
        mcp={"excluded": ["out"]},
    )
    assert env.output_of("/mcp disable off") == "off is disabled from the next session on."
    lines = shown(env, "/mcp").splitlines()
    assert "dead - Disconnected" in lines
    assert "off - Disabled" in lines
    assert "out - Not started" in lines
    assert "s3cr3t" not in "\n".join(lines)


def test_not_in_a_folder_that_is_not_trusted(env: CommandEnv) -> None:
    lines = shown(env, "/mcp", trusts_folder=False).splitlines()
    assert lines[1] == "far - Not started"
    assert "is not trusted" in lines[2]


def test_connecting_anew(env: CommandEnv) -> None:
    broken = env.base / "broken"
    broken.touch()
    program = f'[ -e "{broken}" ] && exit 1; exec "$0" "$@"'
    entry = hostile_server(tools_fault("go"))
    entry |= {"command": "/bin/sh", "args": ["-c", program, entry["command"], *entry["args"]]}
    env.write_user_settings(mcpServers={"far": entry})

    async def work(runner: CommandRunner) -> tuple[str, str]:
        assert runner.parts.toolset.external is not None
        await runner.parts.toolset.external.wait_ready()
        before = await runner.output_of("/mcp")
        broken.unlink()
        return before, await runner.output_of("/mcp refresh")

    before, after = env.run_with(work)
    assert before.splitlines()[1] == "far - Disconnected"
    assert after.splitlines()[:4] == [
        "Restarting MCP servers...",
        "Configured MCP servers:",
        "far - Ready (1 tool)",
        "  - far__go",
    ]


def test_switching(env: CommandEnv) -> None:
    assert env.output_of("/mcp enable far") == "far is already enabled."
    assert env.output_of("/mcp disable far") == "far is disabled from the next session on."
    assert env.output_of("/mcp disable far") == "far is already disabled."
    assert env.output_of("/mcp enable far") == "far is enabled. It starts with the next session."
    assert env.output_of("/mcp enable near") == "Unknown MCP server near. Known: far."


def test_logging_in_where_there_is_nowhere_to(env: CommandEnv) -> None:
    told = 'MCP server "far" is a local program and needs no login.'
    assert env.output_of("/mcp auth far") == told
    assert env.output_of("/mcp auth near") == 'There is no MCP server "near" in the settings.'


@pytest.mark.parametrize("line", ["/mcp what", "/mcp auth", "/mcp enable", "/mcp enable a b"])
def test_any_other_words(env: CommandEnv, line: str) -> None:
    assert env.output_of(line) == USAGE
