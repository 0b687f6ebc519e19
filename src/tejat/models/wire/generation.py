"""Generation settings for services other than Gemini: their own names for the values of `generateContentConfig`."""

from collections.abc import Mapping

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import ModelRequest
from tejat.core.text.str_enum import StrEnum


class Effort(StrEnum):
    """How much a model thinks, least first. The values are OpenAI's."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


_EFFORTS = {effort.name: effort for effort in Effort}
_TRANSLATED_KEYS = frozenset({"temperature", "topP", "maxOutputTokens", "stopSequences", "seed"})
_HARMLESS_KEYS = frozenset({"topK", "candidateCount"})
"""Values that presets often inherit. Leaving them out changes little, and is not reported."""


class Generation(Frozen):
    """The generation settings of a request that other services may know, None where not set."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    effort: Effort | None = None


def read_generation(request: ModelRequest) -> Generation:
    """Return what a request asks for: the user's settings first, then its own values."""
    given = request.generation
    limits = [limit for limit in (request.max_output_tokens, _integer(given.get("maxOutputTokens"))) if limit]
    temperature = _number(given.get("temperature"))
    stop = given.get("stopSequences")
    return Generation(
        temperature=request.temperature if temperature is None else temperature,
        top_p=_number(given.get("topP")),
        max_tokens=min(limits) if limits else None,
        stop=tuple(text for text in stop if isinstance(text, str)) if isinstance(stop, list) else (),
        seed=_integer(given.get("seed")),
        effort=_effort(given),
    )


def ignored_settings(generation: JsonObject) -> str:
    """Return a notice about the settings that only Gemini understands, empty if there are none."""
    thinking = _object(generation.get("thinkingConfig"))
    ignored = [key for key in generation if key not in _TRANSLATED_KEYS | _HARMLESS_KEYS | {"thinkingConfig"}]
    if "thinkingLevel" not in thinking and thinking.get("thinkingBudget", 0) != 0:
        ignored.append("thinkingConfig.thinkingBudget")
    if not ignored:
        return ""
    return lazy(
        "This model ignores modelConfigs settings that only Gemini models support: {names}.",
        names=", ".join(sorted(ignored)),
    )


def _effort(generation: JsonObject) -> Effort | None:
    thinking = _object(generation.get("thinkingConfig"))
    level = thinking.get("thinkingLevel")
    if isinstance(level, str):
        return _EFFORTS.get(level.upper())
    return Effort.MINIMAL if thinking.get("thinkingBudget") == 0 else None


def _number(value: JsonValue) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _integer(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
