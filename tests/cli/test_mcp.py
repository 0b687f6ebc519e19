"""`tejat mcp`: which command is meant."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_house import Here, put, settle
from tejat.cli.mcp import help_text

COMMANDS = ("add", "remove", "list", "test", "enable", "disable", "auth", "serve")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return settle(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_help_and_has_its_own(here: Here, command: str) -> None:
    assert f"tejat mcp {command}" in help_text()
    done = here.mcp(command, "--help")
    assert (done.code, done.aside) == (0, "")
    assert done.result.startswith(f"usage: tejat mcp {command}")


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help(here: Here, word: str) -> None:
    done = here.mcp(word)
    assert (done.code, done.result, done.aside) == (0, help_text(), "")


@pytest.mark.parametrize("words", [[], ["nonsense\x1b[2J"], ["--list"]])
def test_anything_else_is_bad_usage(here: Here, words: list[str]) -> None:
    done = here.mcp(*words)
    told = f"tejat: `tejat mcp` takes add, remove, list, test, enable, disable, auth or serve.\n{help_text()}"
    assert (done.code, done.result, done.aside) == (2, "", told)


@pytest.mark.parametrize("command", ["list", "test one", "disable one", "auth one"])
def test_settings_that_cannot_be_read(here: Here, command: str) -> None:
    put(here.user_file, "{")
    done = here.mcp(*command.split())
    assert (done.code, done.result) == (52, "")
    assert done.aside.startswith(f"tejat: Error in {here.user_file}: ")


def test_adding_loads_nothing_that_speaks_with_servers() -> None:
    code = (
        "import sys; from tejat.cli.mcp import run\n"
        "try: run(['add', '--help'])\n"
        "except SystemExit: pass\n"
        "loaded = [name for name in ('asyncio', 'ssl', 'tejat.app', 'tejat.mcp.pool') if name in sys.modules]\n"
        "assert loaded == [], loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
