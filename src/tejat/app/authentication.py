"""Authentication types: which one a run uses, which one is selected, and which one is enforced."""

from collections.abc import Mapping

from tejat.config.credentials import GEMINI_API_KEY, VERTEX_AI
from tejat.config.settings.types import Setting, Settings, SourceTier
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.text.switches import is_truthy
from tejat.models.names import Provider, parse_model_name

GATEWAY = "gateway"
OTHER = "other"
"""Every service but Gemini and Vertex AI."""
SIGN_IN_TYPES = frozenset({"oauth-personal", "compute-default-credentials", "cloud-shell"})
"""The types that need a Google sign-in, which there is none of."""

_SIGN_IN_VARIABLES = {
    "GOOGLE_GENAI_USE_GCA": "oauth-personal",
    "GEMINI_CLI_USE_COMPUTE_ADC": "compute-default-credentials",
}


def selected_auth_type(settings: Settings, environment: Mapping[str, str]) -> Setting[str] | None:
    """The type that the user has selected, by a setting or by a variable; None if they have not."""
    if settings.auth_type is not None:
        return settings.auth_type
    for name, kind in _SIGN_IN_VARIABLES.items():
        if is_truthy(environment.get(name)):
            return Setting(kind, name, SourceTier.USER)
    return None


def is_keyless_gateway(settings: Settings, environment: Mapping[str, str]) -> bool:
    """Whether a gateway is selected that may need no key."""
    selected = settings.auth_type
    has_address = bool(environment.get("GOOGLE_GEMINI_BASE_URL", "").strip())
    return selected is not None and selected.value == GATEWAY and has_address


def auth_type_of(model: str, settings: Settings, environment: Mapping[str, str]) -> str | None:
    """The type of a run with this model, None for a scripted one. Raises UsageError for an unknown model."""
    provider = parse_model_name(model, environment)[0]
    match provider:
        case Provider.SCRIPTED:
            return None
        case Provider.VERTEX:
            return VERTEX_AI
        case Provider.GEMINI:
            has_address = environment.get("GOOGLE_GEMINI_BASE_URL", "").strip() or settings.base_url is not None
            return GATEWAY if has_address else GEMINI_API_KEY
        case _:
            return OTHER


def require_auth_type(model: str, settings: Settings, environment: Mapping[str, str]) -> None:
    """Raise ModelFailure if another type is enforced than the one of this model."""
    enforced = settings.enforced_auth_type
    if enforced is None:
        return
    try:
        used = auth_type_of(model, settings, environment)
    except UsageError:
        return  # reported when the model is opened
    if used is None or used == enforced.value:
        return
    message = lazy(
        "{source} enforces {type}, but this run would use {used}.",
        type=enforced.value,
        source=enforced.source,
        used=used,
    )
    if enforced.value in SIGN_IN_TYPES:
        message = lazy(
            "{source} enforces {type}, but Tejat has no Google sign-in.",
            type=enforced.value,
            source=enforced.source,
        )
    raise ModelFailure(message, FailureKind.AUTHENTICATION)


def without_sign_in(failure: ModelFailure, settings: Settings, environment: Mapping[str, str]) -> ModelFailure:
    """The failure for a missing key, or a better one if a sign-in is selected."""
    selected = selected_auth_type(settings, environment)
    if failure.kind is not FailureKind.NO_KEY or selected is None or selected.value not in SIGN_IN_TYPES:
        return failure
    message = lazy(
        "{source} selects {type}, but Tejat has no Google sign-in. Set GEMINI_API_KEY, or use Vertex AI: "
        "GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT.",
        source=selected.source,
        type=selected.value,
    )
    return ModelFailure(message, FailureKind.NO_KEY)
