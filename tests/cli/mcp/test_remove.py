"""`tejat mcp remove`: what is taken out, and where a server is that was looked for in the wrong place."""

import os
from pathlib import Path

import pytest

from support.mcp.cli_env import McpCliEnv, make_cli_env, read_servers
from support.program import write_json

SERVERS = {"mcpServers": {"one": {"command": "x"}, "two": {"command": "y"}}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    return make_cli_env(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_one_is_taken_out_and_the_others_stay(here: McpCliEnv, scope: str) -> None:
    write_json(here.user_file, SERVERS)
    write_json(here.project_file, SERVERS)
    done = here.mcp("remove", *(["one"] if scope == "project" else ["one", "-s", "user"]))
    changed, same = (here.user_file, here.project_file) if scope == "user" else (here.project_file, here.user_file)
    shown = f'Server "one" removed from {scope} settings.\n  {changed}\n'
    assert (done.code, done.stdout, done.stderr) == (0, shown, "")
    assert read_servers(changed) == {"two": {"command": "y"}}
    assert read_servers(same) == SERVERS["mcpServers"]


@pytest.mark.parametrize(("asked", "other"), [("project", "user"), ("user", "project")])
def test_where_it_is_instead(here: McpCliEnv, asked: str, other: str) -> None:
    write_json(here.user_file if other == "user" else here.project_file, SERVERS)
    done = here.mcp("remove", "--scope", asked, "one")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == (
        f'Server "one" not found in {asked} settings.\n'
        f"tejat: It is in the {other} settings: tejat mcp remove --scope {other} one\n"
    )


def test_one_of_the_machine(here: McpCliEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(tmp_path / "admin" / "settings.json", SERVERS)
    monkeypatch.setenv("TEJAT_ADMIN_DIRECTORY", str(tmp_path / "admin"))
    done = here.mcp("remove", "one")
    path = tmp_path / "admin" / "settings.json"
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == (
        'Server "one" not found in project settings.\n'
        f"tejat: It is in {path}:1, which only an administrator can change.\n"
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "Add one with `tejat mcp add`."),
        (SERVERS, "Known servers: one, two."),
    ],
)
def test_one_that_is_nowhere(here: McpCliEnv, settings: dict[str, object], told: str) -> None:
    write_json(here.project_file, settings)
    done = here.mcp("remove", "onne\x1b\n")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == (
        'Server "onne<U+001B><U+000A>" not found in project settings.\n'
        f'tejat: There is no MCP server "onne<U+001B><U+000A>" in the settings. {told}\n'
    )


def test_the_home_directory_is_no_project(here: McpCliEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(here.user_file, SERVERS)
    monkeypatch.chdir(here.home)
    done = here.mcp("remove", "one")
    told = "Error: Please use --scope user to edit settings in the home directory.\n"
    assert (done.code, done.stdout, done.stderr) == (1, "", told)
    assert read_servers(here.user_file) == SERVERS["mcpServers"]
    assert here.mcp("remove", "one", "-s", "user").code == 0


def test_a_trusted_folder_stays_so(here: McpCliEnv) -> None:
    (here.project / "serve.py").write_text("1")
    write_json(here.project_file, {"mcpServers": {"one": {"command": "python", "args": ["serve.py"]}}})
    here.trust()
    assert here.mcp("remove", "one").stderr == ""
    told = here.run("trust", "--json").json
    assert (told["level"], [item["path"] for item in told["items"]]) == ("trusted", [".gemini/settings.json"])


def test_settings_that_cannot_be_read(here: McpCliEnv) -> None:
    write_json(here.project_file, "{")
    assert here.mcp("remove", "one").code == 52
    assert here.project_file.read_text() == "{"
    assert os.listdir(here.project_file.parent) == ["settings.json"]


@pytest.mark.parametrize("words", [[], ["a", "b"], ["-s", "nobody", "a"], ["--all"]])
def test_bad_usage(here: McpCliEnv, words: list[str]) -> None:
    assert here.mcp("remove", *words).code == 2
