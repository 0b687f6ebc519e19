"""Settings of extensions, skills and sub-agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.program import write_settings
from tejat.config.paths import SourceTier, app_paths
from tejat.config.settings.file import SettingsError
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Setting, Settings


def load(base: Path, user: dict[str, Any], project: dict[str, Any] | None = None, *, trusted: bool = True) -> Settings:
    directory = base / "home" / ".gemini"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "settings.json").write_text(json.dumps(user))
    if project is not None:
        write_settings(base, project)
    environment = {"HOME": str(base / "home")}
    return load_settings(app_paths(environment), [str(base)], trusted=trusted, environment=environment)


def overrides(entries: dict[str, Any]) -> dict[str, Any]:
    return {"agents": {"overrides": entries}}


def test_an_entry_for_an_agent(tmp_path: Path) -> None:
    entry = {"enabled": False, "runConfig": {"maxTurns": 7}, "mcpServers": {"a": {"env": {"KEY": "$KEY"}}}}
    source = f"{tmp_path}/home/.gemini/settings.json:1"
    assert load(tmp_path, overrides({"a": entry, "b": {}})).agent_overrides == {
        "a": (Setting(entry, source, SourceTier.USER),),
        "b": (Setting({}, source, SourceTier.USER),),
    }


def test_the_entries_of_a_project_come_last(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".config" / "tejat" / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(overrides({"a": {"maxTokens": 3}})))
    settings = load(tmp_path, overrides({"a": {"maxTokens": 1}}), overrides({"a": {"maxTokens": 2}}))
    given = [(entry.value["maxTokens"], entry.tier) for entry in settings.agent_overrides["a"]]
    assert given == [(1, SourceTier.USER), (3, SourceTier.USER), (2, SourceTier.WORKSPACE)]


def test_the_former_settings_of_single_agents(tmp_path: Path) -> None:
    former = {
        "codebaseInvestigatorSettings": {"enabled": True, "maxNumTurns": 9, "maxTimeMinutes": 4, "model": "pro"},
        "cliHelpAgentSettings": {"enabled": False},
        "introspectionAgentSettings": {"enabled": True},
    }
    settings = load(tmp_path, {"experimental": former})
    investigator = {
        "enabled": True,
        "runConfig": {"maxTurns": 9, "maxTimeMinutes": 4},
        "modelConfig": {"model": "pro"},
    }
    assert {name: entry.value for name, (entry,) in settings.agent_overrides.items()} == {
        "codebase_investigator": investigator,
        "cli_help": {"enabled": False},
    }
    both = load(tmp_path, {"experimental": former, **overrides({"x": {}})})
    assert list(both.agent_overrides) == ["x"]


@pytest.mark.parametrize(("value", "key"), [(5, "agents.overrides"), ({"a": 5}, "agents.overrides.a")])
def test_an_override_that_is_no_object_ends_the_run(tmp_path: Path, value: object, key: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, {"agents": {"overrides": value}})
    assert raised.value.value is not None
    assert raised.value.value.key == key


def test_a_project_disables_skills_even_untrusted_and_no_extensions(tmp_path: Path) -> None:
    project = {"skills": {"disabled": ["pdf"], "enabled": False}, "extensions": {"disabled": ["guard"]}}
    untrusted = load(tmp_path, {}, project, trusted=False)
    assert [entry.value for entry in untrusted.skills_disabled] == ["pdf"]
    assert untrusted.skills_switch.value
    trusted = load(tmp_path, {}, project)
    assert not trusted.skills_switch.value
    assert (trusted.extensions_disabled, untrusted.extensions_disabled) == ((), ())
