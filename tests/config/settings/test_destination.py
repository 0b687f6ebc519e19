"""Which file of the user a setting is written to, and what stays as it was."""

import json
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths
from tejat.config.settings.destination import UserSettings, gemini_accepts, settings_path_for
from tejat.config.settings.file import SettingKey
from tejat.config.settings.known_keys import load_known_keys
from tejat.config.settings.schema import setting_key
from tejat.core.messages.types import JsonValue


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = str(tmp_path)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def put(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


class TestAccepted:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("model.name", "gemini-3.8-flash"),
            ("model.name", "auto"),
            ("model.name", "flash-lite"),
            ("model.name", "models/gemini-2.5-pro"),
            ("tools.sandbox", True),
            ("tools.sandbox", "podman"),
            ("tools.sandbox", {"enabled": True, "command": "docker"}),
            ("ui.theme", "GitHub"),
            ("ui.theme", "Default Light"),
            ("general.preferredEditor", "vscode"),
            ("general.vimMode", True),
            ("general.vimMode", "true"),
            ("general.maxAttempts", "3"),
            ("general.sessionRetention", {"enabled": True, "maxAge": "7d"}),
            ("hooksConfig.disabled", ["a"]),
            ("telemetry", True),
            ("telemetry.enabled", True),
            ("mcpServers.a", {"command": "x", "trust": True}),
        ],
    )
    def test_goes_to_the_file_of_gemini_cli(self, paths: AppPaths, key: str, value: JsonValue) -> None:
        assert settings_path_for(paths, key, value) == f"{paths.home}/.gemini/settings.json"

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("model.name", "openai:gpt-6"),
            ("model.name", "claude-sonnet-5"),
            ("model.name", "ollama:gemma-3"),
            ("model.name", "vertex:gemini-3.8-flash"),
            ("model.name", "scripted:x.toml"),
            ("tools.sandbox", "auto"),
            ("tools.sandbox", "required"),
            ("tools.sandbox", "off"),
            ("tools.sandbox", {"mode": "required"}),
            ("ui.theme", "dark"),
            ("ui.theme", "auto"),
            ("general.preferredEditor", "code --wait"),
            ("general.sessionRetention", 7),
            ("tools.discoveryCommand", ["bin/list", "x"]),
            ("model.fallback", "gemini-2.5-flash"),
            ("tools.shell.environment", ["A"]),
            ("tools.shell.autoAllowSandboxed", True),
            ("ui.animations", False),
            ("mcpServers.a", {"command": "x", "sampling": True}),
            ("unheard.of", 1),
        ],
    )
    def test_what_only_tejat_understands(self, paths: AppPaths, key: str, value: JsonValue) -> None:
        assert settings_path_for(paths, key, value) == f"{paths.home}/.config/tejat/settings.json"

    def test_every_default_of_gemini_cli(self) -> None:
        defaults = [(key.name, key.default) for key in load_known_keys().gemini_keys if key.default is not None]
        assert len(defaults) > 100
        assert [name for name, default in defaults if not gemini_accepts(name, default)] == []


class TestWrite:
    def test_the_other_file_stays_byte_for_byte(self, paths: AppPaths) -> None:
        text = '{ // mine\n  "model": {"name": "gemini-2.5-pro"}\n}\n'
        put(paths.user_settings, text)
        assert UserSettings(paths).write(setting_key("model.name"), "openai:gpt-6") == paths.own_settings
        assert Path(paths.user_settings).read_text() == text
        assert json.loads(Path(paths.own_settings).read_text()) == {"model": {"name": "openai:gpt-6"}}

    def test_a_choice_for_gemini_cli_ends_the_own_one(self, paths: AppPaths) -> None:
        put(paths.own_settings, '{\n  // why\n  "model": {"name": "openai:gpt-6", "fallback": "gemini-2.5-pro"}\n}\n')
        assert UserSettings(paths).write(setting_key("model.name"), "gemini-3.8-flash") == paths.user_settings
        assert json.loads(Path(paths.user_settings).read_text()) == {"model": {"name": "gemini-3.8-flash"}}
        assert "// why" in (own := Path(paths.own_settings).read_text())
        assert '"fallback": "gemini-2.5-pro"' in own
        assert "gpt-6" not in own

    def test_an_old_name_stays(self, paths: AppPaths) -> None:
        put(paths.user_settings, '{"theme": "GitHub"}')
        UserSettings(paths).write(setting_key("ui.theme"), "Dracula")
        assert json.loads(Path(paths.user_settings).read_text()) == {"theme": "Dracula"}

    def test_the_name_that_gemini_cli_knows(self, paths: AppPaths) -> None:
        UserSettings(paths).write(SettingKey("ui.screenReader", "ui.accessibility.screenReader"), True)
        assert json.loads(Path(paths.user_settings).read_text()) == {"ui": {"accessibility": {"screenReader": True}}}

    def test_nothing_else_is_created(self, paths: AppPaths) -> None:
        UserSettings(paths).write(setting_key("general.vimMode"), True)
        assert not Path(paths.own_settings).exists()


class TestRemove:
    def test_one_file_at_a_time(self, paths: AppPaths) -> None:
        put(paths.user_settings, '{"theme": "GitHub", "ui": {"theme": "Dracula"}}')
        put(paths.own_settings, '{"ui": {"theme": "dark"}}')
        settings, key = UserSettings(paths), setting_key("ui.theme")
        settings.remove(key)
        assert json.loads(Path(paths.own_settings).read_text()) == {"ui": {}}
        assert "Dracula" in Path(paths.user_settings).read_text()
        settings.remove(key)
        assert json.loads(Path(paths.user_settings).read_text()) == {"ui": {}}

    def test_what_is_not_there(self, paths: AppPaths) -> None:
        UserSettings(paths).remove(setting_key("ui.theme"))
        assert not Path(paths.user_settings).exists()


class TestEntries:
    KEY = SettingKey("hooksConfig.disabled", "hooks.disabled")

    def test_are_added_where_the_list_is(self, paths: AppPaths) -> None:
        put(paths.user_settings, '{"hooks": {"disabled": ["a"]}}')
        assert UserSettings(paths).add_entry(self.KEY, "b") == [paths.user_settings]
        assert json.loads(Path(paths.user_settings).read_text()) == {"hooks": {"disabled": ["a", "b"]}}
        assert UserSettings(paths).add_entry(self.KEY, "b") == []

    def test_are_removed_from_every_list(self, paths: AppPaths) -> None:
        put(paths.user_settings, '{"hooks": {"disabled": ["a"]}, "hooksConfig": {"disabled": ["a", "b"]}}')
        put(paths.own_settings, '{"hooksConfig": {"disabled": ["a"]}}')
        assert UserSettings(paths).remove_entry(self.KEY, "a") == [paths.user_settings, paths.own_settings]
        assert json.loads(Path(paths.user_settings).read_text()) == {
            "hooks": {"disabled": []},
            "hooksConfig": {"disabled": ["b"]},
        }
        assert json.loads(Path(paths.own_settings).read_text()) == {"hooksConfig": {"disabled": []}}
