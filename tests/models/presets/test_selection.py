from types import SimpleNamespace
from typing import Any, cast

import pytest

from tejat.core.messages.history import user_message
from tejat.core.model import ModelRequest
from tejat.models.presets.resolver import PresetSettings, SourcedObject
from tejat.models.presets.selection import ModelSelector, resolve_conditions


def sourced(values: dict[str, Any]) -> dict[str, SourcedObject]:
    return {
        name: cast("SourcedObject", SimpleNamespace(value=value, source="s.json:1")) for name, value in values.items()
    }


def preset(model: str | None = None, extends: str | None = None, **generation: Any) -> Any:
    config: dict[str, Any] = {"generateContentConfig": generation, **({"model": model} if model else {})}
    return {"modelConfig": config, **({"extends": extends} if extends else {})}


def selector(
    presets: Any = None, *, overrides: Any = (), resolutions: Any = None, tiers: Any = None, **environment: str
) -> ModelSelector:
    listed = list(sourced({str(place): each for place, each in enumerate(overrides)}).values())
    settings = PresetSettings({}, sourced(presets or {}), (), listed)
    return ModelSelector(environment, settings, sourced(resolutions or {}), sourced(tiers or {}))


def generation(selected: Any, **request: Any) -> Any:
    return selected.generation_of(ModelRequest([user_message("hi")], **request))


def test_names_without_presets() -> None:
    names = selector(resolutions={"x": {"default": "y"}})
    assert [names.select(name).name for name in ("flash", "vertex:flash", "gemini-3.5-flash", "openai:flash")] == [
        "gemini-3.8-flash",
        "vertex:gemini-3.8-flash",
        "gemini-3.5-flash",
        "openai:flash",
    ]
    assert names.select("flash").generation_of is None


def test_a_preset_leads_to_an_alias() -> None:
    selected = selector({"mine": preset("flash", temperature=0.5)}).select("mine")
    assert selected.name == "gemini-3.8-flash"
    assert generation(selected) == {"temperature": 0.5}


def test_a_preset_wins_over_an_alias_and_over_a_server() -> None:
    presets = {"flash": preset("gemini-2.5-flash")}
    assert selector(presets).select("flash").name == "gemini-2.5-flash"
    assert selector(presets, OPENAI_BASE_URL="http://127.0.0.1:1/v1").select("flash").name == "gemini-2.5-flash"


def test_overrides_match_the_id_behind_an_alias() -> None:
    change = {"match": {"model": "gemini-3.8-flash"}, "modelConfig": {"generateContentConfig": {"seed": 1}}}
    names = selector(overrides=[change])
    for name in ("flash", "gemini-3.8-flash", "vertex:flash"):
        assert generation(names.select(name)) == {"seed": 1}
    assert generation(names.select("pro")) == {}


def test_an_override_that_changes_the_model() -> None:
    change = {"match": {"model": "gemini-2.5-pro"}, "modelConfig": {"model": "flash-lite"}}
    assert selector(overrides=[change]).select("gemini-2.5-pro").name == "gemini-3.5-flash-lite"


def test_side_requests_have_presets_of_their_own() -> None:
    presets = {
        "mine": preset("gemini-2.5-pro", "chat-base", temperature=0.5),
        "web-search": preset("gemini-2.5-flash", topK=3),
    }
    names = selector(presets)
    selected = names.select("mine")
    assert generation(selected)["temperature"] == 0.5
    assert generation(selected, purpose="web_search") == {"topK": 3}
    assert generation(selected, purpose="edit_correction") == {}
    assert names.select_helper("web_search") == "gemini-2.5-flash"
    assert names.select_helper("edit_correction") is None
    assert selector(resolutions={"x": {"default": "y"}}).select_helper("web_search") is None


@pytest.mark.parametrize(
    ("contexts", "target"),
    [
        ([], "d"),
        ([{"condition": {"useGemini3_1": True}, "target": "a"}], "a"),
        ([{"condition": {"useGemini3_1": False}, "target": "a"}], "d"),
        ([{"condition": {"useLatestFlash": True, "useCustomTools": True}, "target": "a"}], "d"),
        ([{"condition": {"hasAccessToPreview": False}, "target": "a"}, {"condition": {}, "target": "b"}], "b"),
        ([{"condition": {"requestedModels": ["auto"]}, "target": "a"}], "a"),
        ([{"condition": {"requestedModels": ["pro"]}, "target": "a"}], "d"),
        ([{"condition": {"unheardOf": True}, "target": "a"}], "d"),
        (["nonsense", {"condition": {}}], "d"),
    ],
)
def test_conditions(contexts: Any, target: str) -> None:
    assert resolve_conditions({"default": "d", "contexts": contexts}, "auto") == target


def test_resolutions_of_the_settings_replace_aliases() -> None:
    names = selector(resolutions={"pro": {"default": "gemini-9-pro"}}, tiers={"flash": {"default": "gemini-9-flash"}})
    assert names.select("pro").name == "gemini-9-pro"
    assert names.select("vertex:pro").name == "vertex:gemini-9-pro"
    assert names.select("openai:pro").name == "openai:pro"
    assert names.select_tier("flash", "auto", "gemini-3.8-flash") == "gemini-9-flash"
    assert names.select_tier("pro", "auto", "gemini-3.1-pro-preview") == "gemini-3.1-pro-preview"
