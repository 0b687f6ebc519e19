"""Values in Gemini CLI's file that it cannot use: found, and moved without losing anything."""

import json
from pathlib import Path

import pytest

from support.settings_examples import put
from tejat.config.jsonc import parse_jsonc
from tejat.config.paths import AppPaths
from tejat.config.settings.file import to_json
from tejat.config.settings.relocation import find_misplaced_settings, move_misplaced_settings

TEXT = """{
  // chosen on Monday
  "model": {
    "name": "openai:gpt-6", // the best
    "maxSessionTurns": 7
  },
  "sandbox": "required",
  "theme": "GitHub",
  "general": {"preferredEditor": "code --wait", "sessionRetention": 7, "maxAttempts": "3"},
  "mcpServers": {
    "my.server": {"command": "x", "sampling": true} /* tools */
  },
  "ui": {"theme": 7, "accessibility": {"screenReader": true}}
}
"""


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = str(tmp_path)
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(TEXT)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def read(path: str) -> object:
    return to_json(parse_jsonc(Path(path).read_text()))


def test_what_gemini_cli_cannot_use(paths: AppPaths) -> None:
    found = {each.key: (each.value, each.source) for each in find_misplaced_settings(paths, {})}
    path = paths.user_settings
    assert found == {
        "model.name": ("openai:gpt-6", f"{path}:4"),
        "sandbox": ("required", f"{path}:7"),
        "general.preferredEditor": ("code --wait", f"{path}:9"),
        "general.sessionRetention": (7, f"{path}:9"),
        "mcpServers.my.server.sampling": (True, f"{path}:11"),
    }


def test_a_reference_counts_as_what_it_stands_for(paths: AppPaths) -> None:
    Path(paths.user_settings).write_text('{"model": {"name": "$MODEL"}}')
    assert find_misplaced_settings(paths, {"MODEL": "gemini-2.5-pro"}) == []
    (misplaced,) = find_misplaced_settings(paths, {"MODEL": "openai:gpt-6"})
    assert misplaced.value == "$MODEL"


@pytest.mark.parametrize(
    "settings",
    [
        {"model": {"name": "precise"}, "modelConfigs": {"customAliases": {"precise": {}}}},
        {"ui": {"theme": "Mine", "customThemes": {"Mine": {"type": "custom"}}}},
        {"general": {"sessionRetention": {"enabled": True, "warningAcknowledged": True}}},
        {"tools": {"sandbox": {"enabled": True, "flavour": "new"}}, "telemetry": {"enabled": False, "more": 1}},
        {"hooks": {"PreToolUse": []}, "hooksConfig": {"disabled": ["a"], "more": 1}},
        {"unheard": {"of": 1}},
    ],
)
def test_what_is_not_ours_stays(paths: AppPaths, settings: object) -> None:
    Path(paths.user_settings).write_text(json.dumps(settings))
    assert find_misplaced_settings(paths, {}) == []


def test_everything_is_kept(paths: AppPaths) -> None:
    moved = move_misplaced_settings(paths, find_misplaced_settings(paths, {}))
    assert len(moved) == 5
    text = Path(paths.user_settings).read_text()
    for comment in ("// chosen on Monday", "// the best", "/* tools */"):
        assert comment in text
    assert read(paths.user_settings) == {
        "model": {"maxSessionTurns": 7},
        "theme": "GitHub",
        "general": {"maxAttempts": "3"},
        "mcpServers": {"my.server": {"command": "x"}},
        "ui": {"theme": 7, "accessibility": {"screenReader": True}},
    }
    assert read(paths.own_settings) == {
        "model": {"name": "openai:gpt-6"},
        "tools": {"sandbox": "required"},
        "general": {"preferredEditor": "code --wait", "sessionRetention": 7},
        "mcpServers": {"my.server": {"sampling": True}},
    }
    assert find_misplaced_settings(paths, {}) == []


def test_a_value_of_the_other_file_is_not_replaced(paths: AppPaths) -> None:
    Path(paths.own_settings).parent.mkdir(parents=True)
    Path(paths.own_settings).write_text('{"model": {"name": "claude-sonnet-5"}, "general": {"sessionRetention": 7}}')
    found = find_misplaced_settings(paths, {})
    assert [each.key for each in found if each.is_overridden] == ["model.name"]
    assert "model.name" not in [each.key for each in move_misplaced_settings(paths, found)]
    assert '"name": "openai:gpt-6"' in Path(paths.user_settings).read_text()
    assert "sessionRetention" not in Path(paths.user_settings).read_text()
    assert json.loads(Path(paths.own_settings).read_text())["model"] == {"name": "claude-sonnet-5"}


@pytest.mark.parametrize(
    "name",
    ["tools.enableToolOutputTruncation", "context.fileFiltering.disableFuzzySearch", "general.disableAutoUpdate"],
)
def test_a_value_that_only_its_old_name_can_have_stays(paths: AppPaths, name: str) -> None:
    content: dict[str, object] = {}
    put(content, name, False)
    Path(paths.user_settings).write_text(json.dumps(content))
    assert find_misplaced_settings(paths, {}) == []


def test_a_sandbox_that_nobody_knows_stays(paths: AppPaths) -> None:
    Path(paths.user_settings).write_text('{"tools": {"sandbox": "vmware"}}')
    assert find_misplaced_settings(paths, {}) == []
    Path(paths.user_settings).write_text('{"tools": {"sandbox": "auto"}}')
    assert [each.key for each in find_misplaced_settings(paths, {})] == ["tools.sandbox"]


def test_a_value_that_was_changed_meanwhile_stays(paths: AppPaths) -> None:
    found = find_misplaced_settings(paths, {})
    Path(paths.user_settings).write_text(TEXT.replace("gpt-6", "gpt-7"))
    move_misplaced_settings(paths, found)
    assert "openai:gpt-7" in Path(paths.user_settings).read_text()
