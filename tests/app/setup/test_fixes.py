"""Commands that help with failed checks."""

from pathlib import Path

import pytest

from support.terminal.pty_program import write_script
from tejat.app.setup.fixes import edit_fix, fault_fix, install_fix, source_fix
from tejat.config.settings.file import SettingsError
from tejat.core.errors import ConfigurationError
from tejat.workspace.helper_program import find_program


def test_an_editor_at_a_line() -> None:
    assert edit_fix("/a b.json") == "$EDITOR '/a b.json'"
    assert edit_fix("/a.json", 3) == "$EDITOR +3 /a.json"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("/a.toml:3: no such rule", "$EDITOR +3 /a.toml"),
        ("Cannot use foo, set by /home/me/x y.json:12; use true", "$EDITOR +12 '/home/me/x y.json'"),
        ("/a.json:7", "$EDITOR +7 /a.json"),
        ("GEMINI_MODEL", ""),
        ("http at 12:30", ""),
    ],
)
def test_the_place_in_a_text(text: str, fix: str) -> None:
    assert source_fix(text) == fix


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (ConfigurationError("no", path="/a b", fix=("chmod", "u+r", "/a b")), "chmod u+r '/a b'"),
        (ConfigurationError("no", path="/a", line=2), "$EDITOR +2 /a"),
        (ConfigurationError("/a.toml:4: no"), "$EDITOR +4 /a.toml"),
        (SettingsError("a value is missing at line 2, column 1", path="/s.json"), "$EDITOR +2 /s.json"),
        (SettingsError("no", path="/s.json"), "$EDITOR /s.json"),
        (ConfigurationError("no"), ""),
    ],
)
def test_a_fault(error: ConfigurationError, fix: str) -> None:
    assert fault_fix(error) == fix


@pytest.mark.parametrize(("manager", "fix"), [("dnf", "sudo dnf install git"), ("brew", "brew install git"), ("x", "")])
def test_the_package_manager_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manager: str, fix: str
) -> None:
    write_script(tmp_path / manager)
    monkeypatch.setenv("PATH", str(tmp_path))
    find_program.cache_clear()
    try:
        assert install_fix("git") == fix
    finally:
        find_program.cache_clear()
