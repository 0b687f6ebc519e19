"""Resolution of `modelConfigs`: a name becomes a model id and the generation settings to send with it."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.json_text import merge_objects
from tejat.core.messages.types import JsonObject, JsonValue

_BUILT_IN_FILE = os.path.join(os.path.dirname(__file__), "presets.json")
_MAX_DEPTH = 100
_CHAT_BASE = "chat-base"
_CONFIG_KEY = "generateContentConfig"
CORE_SCOPE = "core"
"""The override scope of the main conversation."""

_REFUSED_KEYS = frozenset({"tools", "toolConfig", "systemInstruction", "cachedContent", "httpOptions", "abortSignal"})
"""Keys that would bypass the policy or change the address."""


class SourcedObject(Protocol):
    """An object of the settings and where it is written, such as a `Setting`."""

    @property
    def value(self) -> JsonObject: ...

    @property
    def source(self) -> str: ...


class PresetSettings(Frozen):
    """The four parts of `modelConfigs` that describe presets, as the user wrote them."""

    aliases: Mapping[str, SourcedObject] = field(default_factory=dict[str, SourcedObject])
    custom_aliases: Mapping[str, SourcedObject] = field(default_factory=dict[str, SourcedObject])
    overrides: Sequence[SourcedObject] = ()
    custom_overrides: Sequence[SourcedObject] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.aliases or self.custom_aliases or self.overrides or self.custom_overrides)


class ResolvedModel(Frozen):
    """A model id, and the generation settings to send with it, in the names of the Gemini API."""

    model: str
    generation: JsonObject


class _Preset(Frozen):
    """An alias or an override. `is_own`: the user wrote it; built-in ones have no source."""

    value: JsonObject
    source: str = ""

    @property
    def is_own(self) -> bool:
        return bool(self.source)

    @property
    def extends(self) -> str | None:
        parent = self.value.get("extends")
        return parent if isinstance(parent, str) else None

    @property
    def config(self) -> JsonObject:
        return _object(self.value.get("modelConfig"))

    def error(self, name: str, problem: str) -> ConfigurationError:
        source = self.source or _BUILT_IN_FILE
        return ConfigurationError(
            lazy("{source}: modelConfigs: {name}: {problem}", source=source, name=name, problem=problem)
        )


class ModelPresets:
    """All presets: those of the user over the built-in ones.

    A built-in preset counts only where a preset of the user extends it: by itself it changes nothing that is sent.
    Raises ConfigurationError for a broken chain of `extends` and for keys that are refused.
    """

    def __init__(self, settings: PresetSettings) -> None:
        built_in = _load_built_in()
        self._aliases = {name: _Preset(value) for name, value in _objects(built_in["aliases"])}
        for own in (settings.aliases, settings.custom_aliases):
            for name, entry in own.items():
                self._add_alias(name, entry)
        self._overrides = [
            *(_Preset(_object(value)) for value in cast("Sequence[JsonValue]", built_in["overrides"])),
            *(_Preset(entry.value, entry.source) for entry in (*settings.overrides, *settings.custom_overrides)),
        ]
        self._check()

    def defines(self, name: str) -> bool:
        """Whether the user defined an alias of this name."""
        preset = self._aliases.get(name)
        return preset is not None and preset.is_own

    def own_names(self) -> list[str]:
        """The aliases of the user that name a model."""
        own = [name for name, preset in self._aliases.items() if preset.is_own]
        return [name for name in own if self._merge_chain(self._chain(name)).get("model")]

    def resolve(
        self, name: str, *, scope: str = CORE_SCOPE, is_retry: bool = False, is_chat: bool = True
    ) -> ResolvedModel:
        """Resolve an alias or a model id. Raises ConfigurationError if no model results."""
        chain = self._chain(name) if name in self._aliases else []
        names = [link for link, _ in chain]
        merged = self._merge_chain(chain)
        if not chain:
            base = self._chain(_CHAT_BASE) if is_chat and _CHAT_BASE in self._aliases else []
            names = [*(link for link, _ in base), name]
            merged = {**self._merge_chain(base), "model": name}
        is_own = any(self._aliases[link].is_own for link in names if link in self._aliases)
        generation: JsonObject = _object(merged.get(_CONFIG_KEY)) if is_own else {}
        model = merged.get("model")
        levels = {str(model): 0, **{link: place for place, link in enumerate(names, 1)}}
        for preset in self._matching(levels, scope=scope, is_retry=is_retry, is_own=is_own):
            model = preset.config.get("model") or model
            generation = merge_objects(generation, _object(preset.config.get(_CONFIG_KEY)))
        if not isinstance(model, str) or not model:
            problem = lazy("the preset has no model; add modelConfig.model")
            raise self._aliases[name].error(name, problem)
        return ResolvedModel(model, generation)

    def _add_alias(self, name: str, entry: SourcedObject) -> None:
        known = self._aliases.get(name)
        if known is not None and known.value == entry.value:
            return  # a copy of the built-in one changes nothing
        value = entry.value
        if known is not None and not known.is_own:
            value = _without_built_in_tools(value, known)
        self._aliases[name] = _Preset(value, entry.source)

    def _check(self) -> None:
        for name, preset in self._aliases.items():
            if preset.is_own:
                _check_shape(name, preset)
                self._chain(name)
        for place, preset in enumerate(self._overrides):
            if preset.is_own:
                _check_shape(f"overrides[{place}]", preset)

    def _chain(self, name: str) -> list[tuple[str, _Preset]]:
        """The presets from the root to this one."""
        chain: dict[str, _Preset] = {}
        current: str | None = name
        child = self._aliases[name]
        while current is not None:
            preset = self._aliases.get(current)
            if preset is None:
                raise child.error(name, lazy("extends {parent!r}, which does not exist", parent=current))
            if current in chain:
                ring = " -> ".join([*chain, current])
                raise child.error(name, lazy("extends itself: {ring}", ring=ring))
            if len(chain) >= _MAX_DEPTH:
                raise child.error(name, lazy("extends more than {limit} others", limit=_MAX_DEPTH))
            chain[current] = child = preset
            current = preset.extends
        return list(reversed(chain.items()))

    @staticmethod
    def _merge_chain(chain: Sequence[tuple[str, _Preset]]) -> JsonObject:
        merged: JsonObject = {}
        for _, preset in chain:
            merged = merge_objects(merged, preset.config)
        return merged

    def _matching(self, levels: Mapping[str, int], *, scope: str, is_retry: bool, is_own: bool) -> list[_Preset]:
        """The overrides that apply, the strongest last."""
        found: list[tuple[int, int, int, _Preset]] = []
        for place, preset in enumerate(self._overrides):
            match = _object(preset.value.get("match"))
            level = _match_level(match, levels, scope=scope, is_retry=is_retry)
            if level is not None and (preset.is_own or is_own):
                found.append((level, len(match), place, preset))
        return [preset for *_, preset in sorted(found, key=lambda each: each[:3])]


def _match_level(match: JsonObject, levels: Mapping[str, int], *, scope: str, is_retry: bool) -> int | None:
    """How specific the matched model is; None if a condition does not hold, or there is none."""
    if not match:
        return None
    level = 0
    for key, wanted in match.items():
        match key:
            case "model":
                found = levels.get(wanted) if isinstance(wanted, str) else None
                if found is None:
                    return None
                level = found
            case "overrideScope" if wanted == scope:
                pass
            case "isRetry" if wanted is is_retry:
                pass
            case _:
                return None
    return level


def _check_shape(name: str, preset: _Preset) -> None:
    config = preset.value.get("modelConfig", {})
    generation = _object(config).get(_CONFIG_KEY, {})
    if not isinstance(config, Mapping) or not isinstance(generation, Mapping):
        raise preset.error(name, lazy("modelConfig and generateContentConfig must be objects"))
    refused = sorted(_REFUSED_KEYS & generation.keys())
    if refused:
        problem = lazy(
            "generateContentConfig.{key} is not allowed here: it could bypass the policy or change "
            "the service address. Remove it.",
            key=refused[0],
        )
        raise preset.error(name, problem)


def _without_built_in_tools(value: JsonObject, built_in: _Preset) -> JsonObject:
    """Drop the tools that the built-in preset has too: web tools add them by themselves."""
    config = _object(value.get("modelConfig"))
    generation = _object(config.get(_CONFIG_KEY))
    known = _object(built_in.config.get(_CONFIG_KEY)).get("tools")
    if known is None or generation.get("tools") != known:
        return value
    kept = {key: each for key, each in generation.items() if key != "tools"}
    return {**value, "modelConfig": {**config, _CONFIG_KEY: kept}}


def _load_built_in() -> JsonObject:
    with open(_BUILT_IN_FILE, encoding="utf-8") as file:
        return cast("JsonObject", json.load(file))


def _objects(value: JsonValue) -> Iterator[tuple[str, JsonObject]]:
    return ((name, _object(entry)) for name, entry in _object(value).items())


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
