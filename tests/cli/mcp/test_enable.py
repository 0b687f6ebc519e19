"""`tejat mcp enable` and `disable`: what is kept, and what is said of names that nobody knows."""

import json
from pathlib import Path

import pytest

from support.mcp.cli_env import McpCliEnv, make_cli_env
from support.program import write_json


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    here = make_cli_env(tmp_path, monkeypatch, capsys)
    here.write_servers(One=["x"])
    return here


def kept(here: McpCliEnv) -> object:
    return json.loads((here.home / ".gemini" / "mcp-server-enablement.json").read_text())


def test_off_and_on_again(here: McpCliEnv) -> None:
    path = f"  {here.home}/.gemini/mcp-server-enablement.json\n"
    said = [here.mcp(command, "One") for command in ("enable", "disable", "disable", "enable")]
    assert [(done.code, done.stdout, done.stderr) for done in said] == [
        (0, 'MCP server "One" is already enabled.\n', ""),
        (0, f'MCP server "One" is disabled.\n{path}', ""),
        (0, 'MCP server "One" is already disabled.\n', ""),
        (0, f'MCP server "One" is enabled.\n{path}', ""),
    ]
    assert kept(here) == {}


def test_what_is_kept_is_what_other_programs_read(here: McpCliEnv) -> None:
    here.mcp("disable", "One")
    assert kept(here) == {"one": {"enabled": False}}


def test_the_server_of_the_command_has_a_name_too(here: McpCliEnv) -> None:
    write_json(here.user_file, {"mcp": {"serverCommand": "x y"}})
    assert here.mcp("disable", "mcp").stdout.startswith('MCP server "mcp" is disabled.\n')


def test_one_of_a_project_that_is_not_trusted(here: McpCliEnv) -> None:
    write_json(here.project_file, {"mcpServers": {"two": {"command": "y"}}})
    assert here.mcp("disable", "two").stdout.startswith('MCP server "two" is disabled.\n')
    write_json(here.project_file, {"mcpServers": []})
    assert here.mcp("disable", "One").stdout.startswith('MCP server "One" is disabled.\n')


def test_one_that_is_gone_can_still_be_switched_on(here: McpCliEnv) -> None:
    here.mcp("disable", "One")
    here.write_servers()
    assert here.mcp("enable", "One").stdout.startswith('MCP server "One" is enabled.\n')
    done = here.mcp("enable", "One")
    assert (done.code, done.stdout) == (1, "")


def test_a_name_that_nobody_knows(here: McpCliEnv) -> None:
    here.write_servers(files=["x"], notes=["y"], file=["z"], web=["w"])
    done = here.mcp("disable", "filse")
    told = 'tejat: There is no MCP server "filse" in the settings. Known servers: file, files, notes.\n'
    assert (done.code, done.stdout, done.stderr) == (1, "", told)
    assert not (here.home / ".gemini" / "mcp-server-enablement.json").exists()


def test_there_is_no_session_here(here: McpCliEnv) -> None:
    done = here.mcp("disable", "One", "--session")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == (
        "tejat: --session is not supported: this setting is permanent. To limit the servers of one run, use "
        "--allowed-mcp-server-names LIST.\n"
    )


def test_a_file_that_cannot_be_read_stays_as_it_is(here: McpCliEnv) -> None:
    file = here.home / ".gemini" / "mcp-server-enablement.json"
    write_json(file, "{")
    assert here.mcp("disable", "One").code == 52
    assert file.read_text() == "{"
