import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tejat.core.errors import ConfigurationError
from tejat.models.presets import resolver
from tejat.models.presets.resolver import ModelPresets, PresetSettings, SourcedObject


def entry(value: Any, source: str = "settings.json:3") -> SourcedObject:
    return cast("SourcedObject", SimpleNamespace(value=value, source=source))


def alias(extends: str | None = None, model: str | None = None, **generation: Any) -> Any:
    config = {**({"model": model} if model else {}), "generateContentConfig": generation}
    return {**({"extends": extends} if extends else {}), "modelConfig": config}


def presets(*, overrides: Any = (), aliases: Any = None, **custom: Any) -> ModelPresets:
    return ModelPresets(
        PresetSettings(
            {name: entry(value) for name, value in (aliases or {}).items()},
            {name.replace("_", "-"): entry(value) for name, value in custom.items()},
            (),
            [entry(each) for each in overrides],
        )
    )


def test_an_alias_inherits_from_the_built_in_presets() -> None:
    resolved = presets(precise=alias("chat-base", "gemini-3.8-flash", temperature=0)).resolve("precise")
    assert resolved.model == "gemini-3.8-flash"
    assert resolved.generation == {
        "temperature": 0,
        "topP": 0.95,
        "topK": 64,
        "thinkingConfig": {"includeThoughts": True},
    }


def test_objects_merge_deeply_and_lists_are_replaced() -> None:
    found = presets(
        one=alias(model="m", stopSequences=["a"], thinkingConfig={"includeThoughts": True}),
        two=alias("one", stopSequences=["b"], thinkingConfig={"thinkingBudget": 5}),
    ).resolve("two")
    assert found.model == "m"
    assert found.generation == {
        "stopSequences": ["b"],
        "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 5},
    }


def test_built_in_presets_alone_change_nothing() -> None:
    found = presets(precise=alias("chat-base", "gemini-3.8-flash"))
    for name in ("gemini-3.8-flash", "gemini-2.5-pro", "some-model"):
        assert found.resolve(name) == type(found.resolve(name))(name, {})
        assert found.resolve(name, is_retry=True).generation == {}


def test_a_copy_of_the_built_in_presets_changes_nothing() -> None:
    built_in = json.loads(Path(resolver.__file__).with_name("presets.json").read_text(encoding="utf-8"))
    found = presets(aliases=built_in["aliases"], overrides=built_in["overrides"])
    assert found.resolve("gemini-2.5-pro").generation == {}
    assert found.own_names() == []


def test_a_new_chat_base_counts_for_every_model() -> None:
    found = presets(chat_base=alias("base", temperature=0.3))
    assert found.resolve("gemini-3.8-flash").generation["temperature"] == 0.3
    assert found.resolve("unknown-model").generation == {"temperature": 0.3, "topP": 1}
    assert found.resolve("unknown-model", is_chat=False).generation == {}


def test_custom_aliases_win() -> None:
    found = presets(aliases={"x": alias(model="a")}, x=alias(model="b"))
    assert found.resolve("x").model == "b"
    assert found.own_names() == ["x"]


@pytest.mark.parametrize(
    ("match", "applies"),
    [
        ({}, False),
        ({"model": "precise"}, True),
        ({"model": "gemini-3.8-flash"}, True),
        ({"model": "chat-base"}, True),
        ({"model": "gemini-2.5-pro"}, False),
        ({"overrideScope": "core"}, True),
        ({"overrideScope": "investigator"}, False),
        ({"isRetry": False}, True),
        ({"isRetry": True}, False),
        ({"model": "precise", "overrideScope": "core", "isRetry": False}, True),
        ({"model": "precise", "isRetry": True}, False),
        ({"model": 7}, False),
        ({"unknown": True}, False),
    ],
)
def test_when_an_override_applies(match: Any, applies: bool) -> None:
    change = {"match": match, "modelConfig": {"generateContentConfig": {"seed": 1}}}
    found = presets(precise=alias("chat-base", "gemini-3.8-flash"), overrides=[change])
    assert ("seed" in found.resolve("precise").generation) is applies


def test_the_more_specific_override_wins() -> None:
    def change(seed: int, **match: Any) -> Any:
        return {"match": match, "modelConfig": {"generateContentConfig": {"seed": seed}}}

    leaf, id_and_scope, model_id = (
        change(1, model="x"),
        change(2, model="m", overrideScope="core"),
        change(3, model="m"),
    )
    found = presets(x=alias("chat-base", "m"), overrides=[leaf, id_and_scope, model_id, change(4, model="base")])
    assert found.resolve("x").generation["seed"] == 1
    found = presets(x=alias("chat-base", "m"), overrides=[id_and_scope, model_id, change(4, overrideScope="core")])
    assert found.resolve("x").generation["seed"] == 2
    found = presets(x=alias("chat-base", "m"), overrides=[model_id, change(5, model="m")])
    assert found.resolve("x").generation["seed"] == 5


def test_an_override_may_change_the_model() -> None:
    change = {"match": {"model": "gemini-2.5-pro"}, "modelConfig": {"model": "gemini-2.5-flash"}}
    assert presets(overrides=[change]).resolve("gemini-2.5-pro").model == "gemini-2.5-flash"


def test_a_retry_of_a_chat_preset_is_warmer() -> None:
    found = presets(x=alias("chat-base", "m", temperature=0))
    assert found.resolve("x").generation["temperature"] == 0
    assert found.resolve("x", is_retry=True).generation["temperature"] == 1


@pytest.mark.parametrize(
    ("custom", "said"),
    [
        ({"a": alias("b", "m"), "b": alias("a")}, "extends itself: a -> b -> a"),
        ({"a": alias("a", "m")}, "extends itself"),
        ({"a": alias("missing", "m")}, "extends 'missing', which does not exist"),
        ({f"n{index}": alias(f"n{index + 1}", "m") for index in range(101)} | {"n101": alias()}, "more than 100"),
        ({"a": alias(None, "m", tools=[])}, "generateContentConfig.tools"),
        ({"a": alias(None, "m", httpOptions={"baseUrl": "http://x"})}, "generateContentConfig.httpOptions"),
        ({"web_search": alias("base", "m", tools=[{"codeExecution": {}}])}, "generateContentConfig.tools"),
        ({"a": {"modelConfig": 7}}, "must be objects"),
    ],
)
def test_a_broken_preset_names_its_place(custom: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        presets(**custom)
    assert str(caught.value).startswith("settings.json:3: modelConfigs: ")
    assert said in str(caught.value)


def test_a_refused_key_in_an_override() -> None:
    change = {"match": {"model": "x"}, "modelConfig": {"generateContentConfig": {"systemInstruction": "obey"}}}
    with pytest.raises(ConfigurationError, match="systemInstruction"):
        presets(overrides=[change])


def test_a_preset_without_a_model() -> None:
    with pytest.raises(ConfigurationError, match="has no model"):
        presets(a=alias("base")).resolve("a")


def test_the_tools_of_a_web_preset_may_be_repeated() -> None:
    found = presets(web_search=alias("base", "gemini-2.5-flash", tools=[{"googleSearch": {}}], topK=5))
    assert found.resolve("web-search", is_chat=False).generation == {"temperature": 0, "topP": 1, "topK": 5}
