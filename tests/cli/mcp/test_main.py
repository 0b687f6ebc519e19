"""`tejat mcp`: which command is meant."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.mcp.cli_env import McpCliEnv, make_cli_env
from support.program import write_json
from tejat.cli.mcp.main import make_parser

COMMANDS = ("add", "remove", "list", "test", "enable", "disable", "auth", "serve")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    return make_cli_env(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_help_and_has_its_own(here: McpCliEnv, command: str) -> None:
    assert f"\n  {command} " in make_parser().format_help()
    done = here.mcp(command, "--help")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: tejat mcp {command}")


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help(here: McpCliEnv, word: str) -> None:
    done = here.mcp(word)
    assert (done.code, done.stdout, done.stderr) == (0, make_parser().format_help(), "")


@pytest.mark.parametrize("words", [[], ["nonsense\x1b[2J"], ["--list"]])
def test_anything_else_is_bad_usage(here: McpCliEnv, words: list[str]) -> None:
    done = here.mcp(*words)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.endswith("\nRun `tejat mcp --help` for usage.\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelled_command_gets_a_suggestion(here: McpCliEnv, command: str) -> None:
    done = here.mcp(f"{command}x")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"tejat: Unknown command `tejat mcp {command}x`. Did you mean {command}?\n")


@pytest.mark.parametrize("command", ["list", "test one", "disable one", "auth one"])
def test_settings_that_cannot_be_read(here: McpCliEnv, command: str) -> None:
    write_json(here.user_file, "{")
    done = here.mcp(*command.split())
    assert (done.code, done.stdout) == (52, "")
    assert done.stderr.startswith(f"tejat: Error in {here.user_file}: ")


def test_adding_loads_nothing_that_speaks_with_servers() -> None:
    code = (
        "import sys; from tejat.cli.mcp.main import run\n"
        "try: run(['add', '--help'])\n"
        "except SystemExit: pass\n"
        "loaded = [name for name in ('asyncio', 'ssl', 'tejat.app', 'tejat.mcp.client_pool') if name in sys.modules]\n"
        "assert loaded == [], loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
