"""Empty texts in settings, which leave some settings unset and are wrong for others."""

import json
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths
from tejat.config.settings.file import SettingsError
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings


def load(tmp_path: Path, name: str, value: str, **environment: str) -> Settings:
    settings: object = value
    for step in reversed(name.split(".")):
        settings = {step: settings}
    home = str(tmp_path)
    paths = AppPaths(home, f"{home}/config", f"{home}/state", f"{home}/.gemini", ())
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return load_settings(paths, [f"{home}/project"], trusted=False, environment=environment)


@pytest.mark.parametrize(
    "name",
    [
        *("model.name", "model", "tools.discoveryCommand", "tools.callCommand", "mcp.serverCommand", "ui.theme"),
        *("tools.sandbox", "security.auth.enforcedType", "security.auth.selectedType", "general.preferredEditor"),
    ],
)
def test_a_text_is_left_unset(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name, " ") == Settings(files=(f"{tmp_path}/.gemini/settings.json",))


@pytest.mark.parametrize("name", ["security.disableYoloMode", "tools.exclude", "general.defaultApprovalMode"])
def test_other_protective_settings_need_a_value(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(tmp_path, name, "")


def test_what_a_variable_leaves_empty_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="enforcedType"):
        load(tmp_path, "security.auth.enforcedType", "$TYPE", TYPE="")


def test_fields_of_servers(tmp_path: Path) -> None:
    server = load(tmp_path, "mcpServers.a.command", "").mcp_servers["a"].value
    assert (server.command, server.url) == (None, None)
