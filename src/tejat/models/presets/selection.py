"""From a name that the user gave to the model to open: presets, resolutions of the settings, aliases."""

from collections.abc import Mapping
from functools import cached_property, partial

from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import CONVERSATION, ModelRequest
from tejat.models.catalogue.aliases import resolve_alias
from tejat.models.presets.model import GenerationOf
from tejat.models.presets.resolver import ModelPresets, PresetSettings, SourcedObject

_HELPER_PRESETS = {
    "edit_correction": ("llm-edit-fixer", "edit-corrector"),
    "compression": ("chat-compression-default",),
    "web_search": ("web-search",),
    "web_fetch": ("web-fetch", "web-fetch-fallback"),
    "router": ("classifier",),
}
"""Presets of side requests, by their purpose."""
_CONDITIONS = {
    **dict.fromkeys(("useGemini3_1", "useLatestFlash", "useLatestFlashLite"), True),
    **dict.fromkeys(("useGemini3_1FlashLite", "useGemini3_5Flash"), True),
    "useCustomTools": False,
    "hasAccessToPreview": True,
}
"""What holds for every user of an API key: models are not released to them one by one."""
_GEMINI_PREFIXES = ("gemini", "vertex")


class SelectedModel(Frozen):
    """The full name of a model, and the generation settings of the user for its requests."""

    name: str
    generation_of: GenerationOf | None = None


class ModelSelector:
    """Selects models by name.

    `resolutions` and `tiers` are the settings `modelIdResolutions` and `classifierIdResolutions`, empty if they do not
    count. Presets are read when the first model is selected. Raises ConfigurationError for a broken preset.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        settings: PresetSettings,
        resolutions: Mapping[str, SourcedObject],
        tiers: Mapping[str, SourcedObject],
    ) -> None:
        self._environment = environment
        self._settings = settings
        self._resolutions = resolutions
        self._tiers = tiers

    @cached_property
    def _presets(self) -> ModelPresets | None:
        return None if self._settings.is_empty else ModelPresets(self._settings)

    def select(self, name: str) -> SelectedModel:
        """Return the model for a name. Presets of the user come before aliases."""
        presets = self._presets
        if presets is None:
            return SelectedModel(self._resolve(name))
        is_preset = presets.defines(name)
        target = self._resolve(presets.resolve(name).model if is_preset else name)
        key = name if is_preset else _own_name(target)
        changed = presets.resolve(key).model
        if not is_preset and changed != key:
            target = self._resolve(changed)
        return SelectedModel(target, partial(_generation, presets, key, _own_name(target)))

    def preset_names(self) -> list[str]:
        """The presets of the user that name a model, except those for side requests."""
        helpers = {name for names in _HELPER_PRESETS.values() for name in names}
        return [] if self._presets is None else [name for name in self._presets.own_names() if name not in helpers]

    def is_preset(self, name: str) -> bool:
        """Return whether the user defined a preset of this name."""
        return self._presets is not None and self._presets.defines(name)

    def select_helper(self, purpose: str) -> str | None:
        """Return the model that a preset of the user names for side requests, None if there is none."""
        preset = None if self._presets is None else _helper_preset(self._presets, purpose)
        return None if preset is None or self._presets is None else self._resolve(self._presets.resolve(preset).model)

    def select_tier(self, tier: str, requested: str, default: str) -> str:
        """Return the model of a tier, `pro` or `flash`, for a requested `auto` name."""
        found = self._tiers.get(tier)
        return default if found is None else resolve_conditions(found.value, requested) or default

    def _resolve(self, name: str) -> str:
        prefix, colon, own = name.strip().rpartition(":")
        found = self._resolutions.get(own) if not colon or prefix in _GEMINI_PREFIXES else None
        target = None if found is None else resolve_conditions(found.value, own)
        if target:
            return f"{prefix}{colon}{target}"
        alias = resolve_alias(name, self._environment)
        return name if alias is None else alias[1]


def resolve_conditions(resolution: JsonObject, requested: str) -> str | None:
    """Return the first target of a resolution whose conditions hold, else its default."""
    contexts = resolution.get("contexts")
    for context in contexts if isinstance(contexts, list | tuple) else ():
        if not isinstance(context, Mapping) or not isinstance(target := context.get("target"), str):
            continue
        condition = context.get("condition")
        conditions = condition.items() if isinstance(condition, Mapping) else ()
        if all(_holds(key, wanted, requested) for key, wanted in conditions):
            return target
    default = resolution.get("default")
    return default if isinstance(default, str) and default else None


def _holds(key: str, wanted: JsonValue, requested: str) -> bool:
    if key == "requestedModels":
        return isinstance(wanted, list | tuple) and requested in wanted
    return key in _CONDITIONS and wanted is _CONDITIONS[key]


def _own_name(name: str) -> str:
    """A Gemini id without its provider; names of other providers keep theirs."""
    prefix, _, own = name.partition(":")
    return own if prefix in _GEMINI_PREFIXES and own else name


def _generation(presets: ModelPresets, name: str, model: str, request: ModelRequest) -> JsonObject:
    if request.purpose == CONVERSATION:
        return presets.resolve(name, is_retry=request.is_retry).generation
    helper = _helper_preset(presets, request.purpose)
    return presets.resolve(helper or model, is_retry=request.is_retry, is_chat=False).generation


def _helper_preset(presets: ModelPresets, purpose: str) -> str | None:
    return next((name for name in _HELPER_PRESETS.get(purpose, ()) if presets.defines(name)), None)
