"""Overrides of single sub-agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.program import write_settings
from tejat.config.paths import SourceTier, app_paths
from tejat.config.settings.file import SettingsError
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import McpServer, Setting, Settings, SubagentOverride


def load(base: Path, user: dict[str, Any], project: dict[str, Any] | None = None) -> Settings:
    directory = base / "home" / ".gemini"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "settings.json").write_text(json.dumps(user))
    if project is not None:
        write_settings(base, project)
    environment = {"HOME": str(base / "home")}
    return load_settings(app_paths(environment), [str(base)], trusted=True, environment=environment)


def overrides(entries: dict[str, Any]) -> dict[str, Any]:
    return {"agents": {"overrides": entries}}


def test_all_fields(tmp_path: Path) -> None:
    entry = {
        "enabled": False,
        "runConfig": {"maxTurns": 7, "maxTimeMinutes": 2.5},
        "modelConfig": {"model": "flash", "generateContentConfig": {"temperature": 0.2, "topP": 0.9}},
        "tools": ["read_file"],
        "mcpServers": {"docs": {"command": "serve", "trust": True, "sampling": True}},
        "copy": "ask",
        "maxTokens": 5000,
        "maxCost": 0.5,
    }
    source = f"{tmp_path}/home/.gemini/settings.json:1"
    expected = SubagentOverride(
        is_enabled=False,
        max_turns=7,
        timeout_minutes=2.5,
        max_tokens=5000,
        max_cost=0.5,
        model="flash",
        temperature=0.2,
        tools=("read_file",),
        servers={"docs": McpServer(command="serve")},
        copy_mode="ask",
    )
    assert load(tmp_path, overrides({"a": entry, "b": {}})).agent_overrides == {
        "a": (Setting(expected, source, SourceTier.USER),),
        "b": (Setting(SubagentOverride(), source, SourceTier.USER),),
    }


def test_the_entries_of_a_project_come_last(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".config" / "tejat" / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(overrides({"a": {"maxTokens": 3}})))
    settings = load(tmp_path, overrides({"a": {"maxTokens": 1}}), overrides({"a": {"maxTokens": 2}}))
    given = [(entry.value.max_tokens, entry.tier) for entry in settings.agent_overrides["a"]]
    assert given == [(1, SourceTier.USER), (3, SourceTier.USER), (2, SourceTier.WORKSPACE)]


def test_the_former_settings_of_single_agents(tmp_path: Path) -> None:
    former = {
        "codebaseInvestigatorSettings": {"enabled": True, "maxNumTurns": 9, "maxTimeMinutes": 4, "model": "pro"},
        "cliHelpAgentSettings": {"enabled": False},
        "introspectionAgentSettings": {"enabled": True},
    }
    settings = load(tmp_path, {"experimental": former})
    assert {name: entry.value for name, (entry,) in settings.agent_overrides.items()} == {
        "codebase_investigator": SubagentOverride(is_enabled=True, max_turns=9, timeout_minutes=4.0, model="pro"),
        "cli_help": SubagentOverride(is_enabled=False),
    }
    both = load(tmp_path, {"experimental": former, **overrides({"x": {}})})
    assert list(both.agent_overrides) == ["x"]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        (5, "agents.overrides.a"),
        ({"enabled": "no"}, "agents.overrides.a.enabled"),
        ({"runConfig": {"maxTurns": 0}}, "agents.overrides.a.runConfig.maxTurns"),
        ({"runConfig": {"maxTimeMinutes": 0}}, "agents.overrides.a.runConfig.maxTimeMinutes"),
        (
            {"modelConfig": {"generateContentConfig": {"temperature": 2.1}}},
            "agents.overrides.a.modelConfig.generateContentConfig.temperature",
        ),
        ({"tools": "read_file"}, "agents.overrides.a.tools"),
        ({"copy": "sometimes"}, "agents.overrides.a.copy"),
    ],
)
def test_a_wrong_value_ends_the_run(tmp_path: Path, entry: object, key: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, overrides({"a": entry}))
    assert raised.value.value is not None
    assert raised.value.value.key == key
