"""What runs in a container besides shell commands: tool commands and MCP servers."""

from pathlib import Path
from typing import Any

import pytest

from support.container_engine import ContainerStandIn
from support.external_tools import ExternalToolsEnv, call_reply, hostile_server
from support.wait import wait_until

SHELL_PREFIX = ["bash", "--norc", "--noprofile", "-c", "--"]


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    return ExternalToolsEnv(tmp_path)


@pytest.fixture
def stand_in(env: ExternalToolsEnv) -> ContainerStandIn:
    stand_in = ContainerStandIn(env.base / "engine")
    env.environment["PATH"] = stand_in.search_path
    return stand_in


def commands(stand_in: ContainerStandIn) -> list[list[str]]:
    """What ran in containers after the probe."""
    argvs = [call["argv"] for call in stand_in.calls("run")]
    return [argv[argv.index("tejat-sandbox") + 1 :] for argv in argvs][1:]


def test_servers_run_inside_unless_the_user_takes_them_out(env: ExternalToolsEnv, stand_in: ContainerStandIn) -> None:
    def server(name: str, **fields: Any) -> dict[str, Any]:
        return hostile_server(f"pids={env.base / name}", trust=True, **fields)

    env.write_user_settings(
        mcpServers={
            "in": hostile_server(f"pids={env.project / 'in'}", trust=True),
            "out": server("out", sandbox=False),
        }
    )
    env.write_project_settings(mcpServers={"its": server("its", sandbox=False)})
    env.run_agent("in__echo", sandbox="docker")
    assert (env.project / "in").exists()
    assert (env.base / "out").exists()
    assert not (env.base / "its").exists()
    assert len(commands(stand_in)) == 2


@pytest.mark.usefixtures("stand_in")
def test_a_program_that_the_image_lacks(env: ExternalToolsEnv) -> None:
    env.write_user_settings(mcpServers={"bad": {"command": "no-such-server", "startTimeout": 60_000}})
    (warning,) = env.run_agent(sandbox="docker").warnings
    assert "no-such-server" in warning


def test_tool_commands(env: ExternalToolsEnv, stand_in: ContainerStandIn) -> None:
    tool = env.project / "tool"
    tool.write_text("#!/bin/sh\ncat; echo called > called; echo x > ../outside\n")
    tool.chmod(0o755)
    env.write_user_settings(
        tools={"discoveryCommand": ["echo", '[{"name": "tide"}]'], "callCommand": ["./tool"], "allowed": ["tide"]}
    )
    transcript = env.run_agent(call_reply("tide", at="noon"), sandbox="docker")
    assert (env.project / "called").exists()
    assert not (env.base / "outside").exists()
    assert "noon" in str(transcript.responses[0])
    assert commands(stand_in) == [["echo", '[{"name": "tide"}]'], [f"{env.project.resolve()}/tool", "tide"]]


def test_background_jobs_outlive_the_session(env: ExternalToolsEnv, stand_in: ContainerStandIn) -> None:
    env.write_user_settings(tools={"allowed": ["run_shell_command"]})
    line = "until [ -e stop ]; do sleep 0.1; done; echo over > over"
    env.run_agent(call_reply("run_shell_command", command=line, is_background=True), sandbox="docker", mode="yolo")
    assert commands(stand_in) == [[*SHELL_PREFIX, line]]
    assert stand_in.calls("rm") == []
    (env.project / "stop").touch()
    wait_until((env.project / "over").exists)
