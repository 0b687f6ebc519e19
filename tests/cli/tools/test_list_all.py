"""`tejat tools list --all` as a program: every tool that a session would have, what is wrong with others, no trace."""

import json
from pathlib import Path

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server, tools_fault
from support.mcp.clients import living_pids
from support.program import ProgramResult
from tejat.app.inspection.openers import run_checks

PLUGIN = "from tejat import tool\n@tool\ndef tide(at: str) -> str:\n    'Tells the tide.'\n    return at\n"
TIDES = {"name": "tides", "description": "Tells the tides. At length."}


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    return ExternalToolsEnv(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})


def listed(env: ExternalToolsEnv, *words: str) -> ProgramResult:
    return env.run("tools", "list", "--all", *words)


def rows(done: ProgramResult) -> dict[str, str]:
    """The lines of the table by the names of the tools."""
    head, *lines = done.stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["NAME", "SHOWN", "AS", "KIND", "SOURCE", "TOKENS", "DESCRIPTION"]
    return {line.split()[0]: " ".join(line.split()) for line in lines}


def test_from_everywhere_with_where_they_are_from(env: ExternalToolsEnv) -> None:
    pids = env.base / "pids"
    env.write_user_settings(
        mcpServers={
            "far": hostile_server(tools_fault(TIDES), 'capabilities={"tools": {}}', f"pids={pids}"),
            "dead": hostile_server("die=start", "words=no \x1b[31mlicence"),
        },
        tools={"discoveryCommand": ["/bin/echo", '[{"name": "wind", "description": "Tells the wind."}]']},
    )
    for folder, name, code in ((env.home, "sea", PLUGIN), (env.project, "broken", "1 / 0")):
        (folder / ".gemini" / "tools").mkdir(parents=True)
        (folder / ".gemini" / "tools" / f"{name}.py").write_text(code)
    done = listed(env)
    assert done.code == 0
    found = rows(done)
    assert list(found)[-3:] == ["tide", "wind", "far__tides"]
    assert "read_file" in found
    assert found["far__tides"].startswith("far__tides tides (far MCP Server) other server far ")
    assert found["far__tides"].endswith(" From MCP server far: Tells the tides")
    assert f" discovered: {env.home}/.gemini/settings.json:1 " in found["wind"]
    assert " python: ~/.gemini/tools/sea.py " in found["tide"]
    told = done.stderr.splitlines()
    assert len([line for line in told if line.startswith("tejat: ")]) == 2
    assert "broken.py" in told[0]
    assert told[1].startswith("tejat: MCP server dead (handshake): ")
    assert told[-1] == "  no licence"
    assert living_pids(pids) == []


def test_as_json_it_is_what_a_model_is_told(env: ExternalToolsEnv) -> None:
    env.write_user_settings(
        mcpServers={"far": hostile_server(tools_fault(TIDES)), "gone": {"command": "no-such-program"}}
    )
    done = listed(env, "--json")
    assert done.code == 0
    assert [tool["name"] for tool in done.json[-3:]] == ["list_mcp_resources", "read_mcp_resource", "far__tides"]
    assert done.json[-1] == {
        "name": "far__tides",
        "description": "From MCP server far: Tells the tides. At length.",
        "parametersJsonSchema": {"type": "object", "properties": {}},
    }
    (problem,) = done.stderr.splitlines()
    assert problem.startswith("tejat: MCP server gone (start): ")


def test_what_is_switched_off_or_excluded_is_not_there(env: ExternalToolsEnv) -> None:
    env.write_user_settings(
        mcpServers={"far": hostile_server(tools_fault("a", "b")), "near": hostile_server()},
        tools={"exclude": ["far__a", "glob"]},
        mcp={"excluded": ["near"]},
    )
    names = [tool["name"] for tool in listed(env, "--json").json]
    assert [name for name in names if "__" in name] == ["far__b"]
    assert "glob" not in names


def test_of_another_directory(env: ExternalToolsEnv) -> None:
    other = env.base / "other"
    (other / ".gemini").mkdir(parents=True)
    settings = {"mcpServers": {"far": hostile_server(tools_fault("a"))}}
    (other / ".gemini" / "settings.json").write_text(json.dumps(settings))
    assert "far__a" not in rows(listed(env))
    assert "far__a" in rows(listed(env, "--root", str(other)))


def test_of_a_server_in_a_sandbox(env: ExternalToolsEnv) -> None:
    (sandbox, *_) = run_checks([str(env.project)], "auto")
    if sandbox.detail != "bubblewrap":
        pytest.skip(f"SANDBOX MISSING: bubblewrap does not work here: {sandbox.detail}")
    env.write_user_settings(mcpServers={"far": hostile_server(tools_fault("a"), sandbox=True)})
    done = listed(env)
    assert (done.code, done.stderr, "far__a" in rows(done)) == (0, "", True)


def test_a_folder_that_is_not_trusted_starts_nothing(env: ExternalToolsEnv) -> None:
    pids = env.base / "pids"
    del env.environment["GEMINI_CLI_TRUST_WORKSPACE"]
    env.write_user_settings(
        mcpServers={"far": hostile_server(f"pids={pids}")}, tools={"discoveryCommand": ["/usr/bin/touch", str(pids)]}
    )
    done = listed(env)
    assert done.code == 0
    assert "far__echo" not in rows(done)
    servers, command = done.stderr.splitlines()
    assert servers.startswith("tejat: MCP servers not started: far. ")
    assert command.startswith("tejat: The tool discovery command was not run. ")
    assert not pids.exists()


def test_settings_that_cannot_be_read_are_told(env: ExternalToolsEnv) -> None:
    (env.home / ".gemini").mkdir()
    (env.home / ".gemini" / "settings.json").write_text('{"mcpServers": []}')
    done = listed(env)
    assert (done.code, done.stdout) == (52, "")
    assert done.stderr.startswith(f"tejat: Error in {env.home}/.gemini/settings.json: ")


def test_without_the_flag_nothing_is_started(env: ExternalToolsEnv) -> None:
    pids = env.base / "pids"
    env.write_user_settings(mcpServers={"far": hostile_server(f"pids={pids}")})
    done = env.run("tools", "list")
    assert (done.code, done.stderr, pids.exists()) == (0, "", False)


@pytest.mark.parametrize("words", [("list", "--all"), ("call", "tide", "at=noon", "--yes")])
def test_a_folder_that_nobody_trusts_is_named_where_its_tools_are_missed(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    env = ExternalToolsEnv(tmp_path)
    plugin = env.project / ".gemini" / "tools" / "sea.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN)
    told = "This folder is not trusted: its configuration is ignored (.gemini/tools/sea.py). See `tejat trust`."
    assert f"tejat: {told}" in env.run("tools", *words).stderr.splitlines()
