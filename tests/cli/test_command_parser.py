"""`--debug` of every subcommand, before and behind its name."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.cli.main import main
from tejat.config.mcp.entries import McpServerEntries, SettingsScope
from tejat.config.paths import app_paths
from tejat.core.log import is_debugging, logger

COMMANDS = [
    *("demo", "doctor", "jobs", "mcp", "policy", "tools", "trust", "undo"),
    *(f"mcp {name}" for name in ("add", "auth", "disable", "enable", "list", "remove", "serve", "test")),
    *(f"policy {name}" for name in ("explain", "list", "revoke", "test")),
    *("tools call", "tools list"),
]


@pytest.fixture(autouse=True)
def _default_level() -> Generator[None]:
    yield
    logger.setLevel(0)


def run(*words: str) -> int:
    """Run the program, which may exit."""
    try:
        return main(list(words))
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_the_flag(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*command.split(), "--help") == 0
    assert "-d, --debug" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["-d", "--debug"])
@pytest.mark.parametrize("words", ["{} tools list", "tools {} list", "tools list {}", "jobs {}", "jobs list {}"])
def test_it_counts_wherever_it_stands(words: str, flag: str) -> None:
    assert run(*words.format(flag).split()) == 0
    assert is_debugging()


def test_without_it() -> None:
    assert run("tools", "list") == 0
    assert not is_debugging()


def test_behind_the_command_of_a_server_it_belongs_to_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("mcp", "add", "notes", "python", "notes.py", "--debug") == 0
    assert not is_debugging()
    assert run("mcp", "add", "--debug", "--scope", "project", "other", "python") == 0
    assert is_debugging()
    environment = {"HOME": str(tmp_path / "home")}
    entries = McpServerEntries(app_paths(environment), str(tmp_path), environment)
    assert set(entries.names(SettingsScope.PROJECT)) == {"notes", "other"}
    assert '"--debug"' in Path(entries.path(SettingsScope.PROJECT)).read_text()


@pytest.mark.parametrize(
    "command",
    ["tools call glob {}", "tools list --all", "undo", "doctor", "sandbox", "policy list", "policy test", "mcp serve"],
)
def test_an_empty_directory_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*command.split(), "--root", "") == 2
    assert "argument --root: is empty. Use . for the current directory" in capsys.readouterr().err
