"""`tejat mcp add`: which words are whose, what is written, and what is said about it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.mcp.cli_env import McpCliEnv, make_cli_env, read_servers
from support.program import write_json

SLOT = '{\n  // mine\n  "theme": "dark", // stays\n  "mcpServers": {"old": {"command": "x"}}\n}\n'
UNTRUSTED = "tejat: This folder is not trusted, so its servers are not started. Trust it with `tejat trust`.\n"
TAKEN_FOR_HTTP = "tejat: Added with the streamable HTTP transport. For the older SSE transport use -t sse.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    return make_cli_env(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (["cmd"], {"command": "cmd"}),
        (["npx", "-y", "pkg", "--flag"], {"command": "npx", "args": ["-y", "pkg", "--flag"]}),
        (["cmd", "--", "--x"], {"command": "cmd", "args": ["--x"]}),
        (["cmd", "a", "--", "b"], {"command": "cmd", "args": ["a", "b"]}),
        (["--", "cmd", "--x", "--", "y"], {"command": "cmd", "args": ["--x", "--", "y"]}),
        (
            ["docker", "run", "-i", "-e", "A", "-t", "image", "-h"],
            {"command": "docker", "args": ["run", "-i", "-e", "A", "-t", "image", "-h"]},
        ),
        (["-e", "A=b=c", "-e", "B=", "cmd"], {"command": "cmd", "env": {"A": "b=c", "B": ""}}),
        (["-eA=b", "--env=C=d", "cmd"], {"command": "cmd", "env": {"A": "b", "C": "d"}}),
        (["-t", "stdio", "--cwd", "sub", "cmd", ""], {"command": "cmd", "args": [""], "cwd": "sub"}),
        (
            [*("--timeout", "5000", "--description", "Für mich"), *("--include-tools", "a, b,", "cmd")],
            {"command": "cmd", "timeout": 5000, "description": "Für mich", "includeTools": ["a", "b"]},
        ),
        (["--exclude-tools", "a", "--exclude-tools=b,c", "cmd"], {"command": "cmd", "excludeTools": ["a", "b", "c"]}),
        (["-t", "http", "https://a.test/mcp"], {"httpUrl": "https://a.test/mcp"}),
        (["https://a.test/mcp", "--type", "http"], {"httpUrl": "https://a.test/mcp"}),
        (["-t", "sse", "http://a.test"], {"url": "http://a.test", "type": "sse"}),
        (["-t", "http", "https://$HOST/${PATH_:-x}"], {"httpUrl": "https://$HOST/${PATH_:-x}"}),
        (
            ["-t", "http", "-H", "X-A:  b: c ", "https://a.test", "-H", "X-B: $B"],
            {"httpUrl": "https://a.test", "headers": {"X-A": "b: c", "X-B": "$B"}},
        ),
    ],
)
@pytest.mark.parametrize("is_name_first", [True, False])
def test_which_words_are_whose(here: McpCliEnv, words: list[str], entry: dict[str, Any], is_name_first: bool) -> None:
    """Options may stand before NAME or behind it."""
    if not is_name_first:
        place = next((number for number, word in enumerate(words) if word in ("--", entry.get("command"))), None)
        words = ["one", *words] if place is None else [*words[:place], "one", *words[place:]]
    else:
        words = ["one", *words]
    done = here.mcp("add", "--scope", "user", *words)
    transport = "stdio" if "command" in entry else "sse" if "url" in entry else "http"
    assert (done.code, done.stdout.splitlines()[0]) == (0, f'MCP server "one" added to user settings. ({transport})')
    assert read_servers(here.user_file) == {"one": entry}


class TestWriting:
    def test_the_project_is_where_it_goes_if_nobody_says_so(self, here: McpCliEnv) -> None:
        done = here.mcp("add", "-e", "A=b", "one", "cmd", "--", "--x")
        first = f'MCP server "one" added to project settings. (stdio)\n  {here.project_file}\n'
        assert (done.code, done.stdout, done.stderr) == (0, first, UNTRUSTED)
        assert read_servers(here.project_file) == {"one": {"command": "cmd", "args": ["--x"], "env": {"A": "b"}}}
        assert not here.user_file.exists()

    def test_everything_else_in_the_file_stays(self, here: McpCliEnv) -> None:
        write_json(here.user_file, SLOT)
        assert here.mcp("add", "-s", "user", "one", "cmd").code == 0
        text = here.user_file.read_text()
        assert text.startswith('{\n  // mine\n  "theme": "dark", // stays\n  "mcpServers": {"old": {"command": "x"}')
        assert '"one": {' in text

    def test_one_of_that_name_is_replaced_whole(self, here: McpCliEnv) -> None:
        write_json(here.user_file, SLOT)
        done = here.mcp("add", "-s", "user", "old", "https://a.test")
        assert done.stdout.startswith('MCP server "old" updated in user settings. (http)\n')
        assert done.stderr == TAKEN_FOR_HTTP
        assert entries_with_comments(here.user_file) == {"old": {"httpUrl": "https://a.test"}}

    def test_the_persons_own_file_is_for_the_person_alone(self, here: McpCliEnv) -> None:
        here.mcp("add", "-s", "user", "one", "cmd")
        assert here.user_file.stat().st_mode & 0o777 == 0o600
        here.mcp("add", "one", "cmd")
        assert here.project_file.stat().st_mode & 0o777 == 0o644


class TestHome:
    def test_the_home_directory_is_no_project(self, here: McpCliEnv, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(here.home)
        done = here.mcp("add", "one", "cmd")
        told = "Error: Please use --scope user to edit settings in the home directory.\n"
        assert (done.code, done.stdout, done.stderr) == (1, "", told)
        assert os.listdir(here.home) == []
        assert here.mcp("add", "-s", "user", "one", "cmd").code == 0
        assert read_servers(here.user_file) == {"one": {"command": "cmd"}}

    def test_nor_is_a_folder_whose_settings_are_those_of_the_person(self, here: McpCliEnv) -> None:
        write_json(here.user_file, {})
        (here.project / ".gemini").symlink_to(here.home / ".gemini")
        assert here.mcp("add", "one", "cmd").code == 1
        assert here.user_file.read_text() == "{}"

    def test_a_link_out_of_the_project_is_not_followed(self, here: McpCliEnv, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (here.project / ".gemini").symlink_to(tmp_path / "elsewhere")
        done = here.mcp("add", "one", "cmd")
        assert (done.code, done.stdout) == (2, "")
        assert "is a link that points outside" in done.stderr
        assert os.listdir(tmp_path / "elsewhere") == []


class TestTrust:
    def test_a_trusted_folder_stays_so(self, here: McpCliEnv) -> None:
        here.trust()
        (here.project / "serve.py").write_text("1")
        done = here.mcp("add", "one", "python", "serve.py")
        assert (done.code, done.stderr) == (0, "")
        told = here.run("trust", "--json").json
        assert (told["level"], [item["path"] for item in told["items"]]) == (
            "trusted",
            [".gemini/settings.json", "serve.py"],
        )
        (here.project / "serve.py").write_text("2")
        assert here.run("trust", "--json").json["level"] == "changed"

    def test_one_that_has_changed_before_does_not_become_trusted_by_it(self, here: McpCliEnv) -> None:
        here.trust()
        (here.project / ".env").write_text("A=1")
        done = here.mcp("add", "one", "cmd")
        assert (done.code, done.stderr) == (0, UNTRUSTED)
        assert here.run("trust", "--json").json["level"] == "changed"


class TestAdvice:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["one", "https://a.test"], TAKEN_FOR_HTTP),
            (["one", "cmd", "--scope", "user"], "tejat: --scope was passed to the command. "),
            (["one", "cmd", "--transport=http"], "tejat: --transport=http was passed to the command. "),
            (["one", "npx -y pkg"], "tejat: The command is a single word with spaces in it. "),
        ],
    )
    def test_what_may_be_a_mistake(self, here: McpCliEnv, words: list[str], told: str) -> None:
        done = here.mcp("add", "-s", "user", *words)
        assert (done.code, done.stderr.count("\n")) == (0, 1)
        assert done.stderr.startswith(told)

    @pytest.mark.parametrize(
        ("words", "name"),
        [
            (["-e", "API_KEY=abc", "one", "cmd"], "API_KEY"),
            (["-e", "WHERE=https://me:pass@a.test", "one", "cmd"], "WHERE"),
            (["-t", "http", "-H", "Authorization: Bearer abc", "one", "https://a.test"], "Authorization"),
            (["-t", "http", "-H", "X-Api-Key: abc", "one", "https://a.test"], "X-Api-Key"),
        ],
    )
    def test_secrets_in_a_project(self, here: McpCliEnv, words: list[str], name: str) -> None:
        here.trust()
        told = (
            f"tejat: {name} may be secret and is now stored in a project file. Use --scope user to keep it private.\n"
        )
        assert here.mcp("add", *words).stderr == told
        assert here.mcp("add", "-s", "user", *words).stderr == PROJECT_COUNTS

    def test_a_reference_is_no_secret(self, here: McpCliEnv) -> None:
        here.trust()
        assert here.mcp("add", "-e", "API_KEY=$API_KEY", "one", "cmd").stderr == ""

    def test_trust_is_not_for_a_project_to_give(self, here: McpCliEnv) -> None:
        here.trust()
        told = "tejat: --trust has no effect in project settings. Use --scope user.\n"
        assert here.mcp("add", "--trust", "one", "cmd").stderr == told
        assert read_servers(here.project_file) == {"one": {"command": "cmd", "trust": True}}


PROJECT_COUNTS = 'tejat: This project also has a server "one", which takes precedence if the project is trusted.\n'


class TestWrong:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ([], "Missing arguments: NAME, and the COMMAND"),
            (["one"], "Missing arguments: NAME, and the COMMAND"),
            (["-e", "A=b", "one"], "Missing arguments: NAME, and the COMMAND"),
            (["-e"], "expected one argument"),
            (["-e", "A", "one", "cmd"], "must be KEY=VALUE"),
            (["-e", "=b", "one", "cmd"], "must be KEY=VALUE"),
            (["-e", "A-B=b", "one", "cmd"], "must be KEY=VALUE"),
            (["-H", "nocolon", "one", "https://a.test"], 'must be "Name: value"'),
            (["-H", "A B: c", "one", "https://a.test"], 'must be "Name: value"'),
            (["-H", "A:", "one", "https://a.test"], 'must be "Name: value"'),
            (["-H", "A: b\r\nC: d", "one", "https://a.test"], "has characters that are not allowed in headers"),
            (["--timeout", "0", "one", "cmd"], "must be a number of milliseconds above 0"),
            (["--timeout", "-5", "one", "cmd"], "must be a number of milliseconds above 0"),
            (["--timeout", "9" * 5000, "one", "cmd"], "must be a number of milliseconds above 0"),
            (["-s", "nobody", "one", "cmd"], "must be one of user, project, not 'nobody'"),
            (["-t", "tcp", "one", "cmd"], "must be one of stdio, sse, http, not 'tcp'"),
            (["--nonsense", "x", "one", "cmd"], "Unknown option --nonsense for `tejat mcp add`"),
            (["one", "https://a.test", "more"], "Unexpected argument 'more'"),
            (["-t", "http", "one", "a.test"], "must start with http:// or https://"),
            (["-t", "sse", "one", "ftp://a.test"], "must start with http:// or https://"),
            (["-t", "http", "one", "https://me:hunter2@a.test"], "contains a user name or password"),
            (["-t", "stdio", "one", "https://a.test"], "A URL needs -t http"),
            (["-H", "A: b", "one", "cmd"], "-H works only with a URL"),
            (["-e", "A=b", "one", "https://a.test"], "-e and --cwd work only with a command"),
            (["--cwd", "x", "one", "https://a.test"], "-e and --cwd work only with a command"),
            (["one", " "], "The command is empty"),
            (["one", "cmd", "a\udcffb"], "is not valid text"),
            (["one", "cmd", "a\0b"], "is not valid text"),
            (["-e", "A=\udcff", "one", "cmd"], "is not valid text"),
            (["a__b", "cmd"], "Invalid MCP server name"),
            (["a b", "cmd"], "Invalid MCP server name"),
            (["a\x1b[2J", "cmd"], "Invalid MCP server name"),
            (["", "cmd"], "An MCP server has no name"),
        ],
    )
    def test_nothing_is_written(self, here: McpCliEnv, words: list[str], told: str) -> None:
        done = here.mcp("add", *words)
        assert (done.code, done.stdout) == (2, "")
        assert told in done.stderr
        assert "hunter2" not in done.stderr
        assert "\x1b" not in done.stderr
        assert os.listdir(here.project) == os.listdir(here.home) == []

    @pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', "\xff"])
    def test_settings_that_cannot_be_read_stay_as_they_are(self, here: McpCliEnv, text: str) -> None:
        here.project_file.parent.mkdir()
        here.project_file.write_bytes(text.encode("latin-1"))
        done = here.mcp("add", "one", "cmd")
        assert (done.code, done.stdout) == (52, "")
        assert str(here.project_file) in done.stderr
        assert here.project_file.read_bytes() == text.encode("latin-1")


def entries_with_comments(path: Path) -> Any:
    lines = [line.partition("//")[0] if "https://" not in line else line for line in path.read_text().splitlines()]
    return json.loads("\n".join(lines))["mcpServers"]


@pytest.mark.parametrize("command", ["add", "remove"])
def test_the_scopes_that_there_are_are_told_as_they_are_typed(here: McpCliEnv, command: str) -> None:
    told = here.mcp(command, "-s", "nobody", "one", *(["cmd"] if command == "add" else [])).stderr
    assert told.replace("'", "").endswith(f"not nobody.\nRun `tejat mcp {command} --help` for usage.\n")
