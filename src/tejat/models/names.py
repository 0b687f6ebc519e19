"""Model names and their providers."""

import re
from collections.abc import Mapping

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum
from tejat.core.text.switches import is_truthy


class Provider(StrEnum):
    """A provider of models, and the prefix of its model names."""

    GEMINI = "gemini"
    VERTEX = "vertex"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"
    AZURE = "azure"
    BEDROCK = "bedrock"
    SCRIPTED = "scripted"


_NAME_PATTERNS = (
    (r"(?:models/|tunedModels/)?(?:gemini|gemma|learnlm)\b|tunedModels/", Provider.GEMINI),
    (r"claude-", Provider.ANTHROPIC),
    (r"(?:gpt-|chatgpt-|codex-|o[1-9](?:-|$))", Provider.OPENAI),
)
# Part of a URL: nothing that ends a path, climbs out of it or is not text.
_MODEL_NAME = r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}"


def parse_model_name(name: str, environment: Mapping[str, str]) -> tuple[Provider, str]:
    """Split a model name into its provider and the provider's own name. Raises UsageError for an unknown one.

    An alias is replaced by the Gemini model that it stands for.
    """
    service, model = _split_provider(name.strip(), environment)
    if service is Provider.SCRIPTED:
        if not model:
            raise UsageError(_("A scripted model needs a file: scripted:FILE"))
        return service, model
    if not re.fullmatch(_MODEL_NAME, model):
        raise UsageError(_("Not a model name: {name!r}", name=name[:100]))
    if service in {Provider.GEMINI, Provider.VERTEX}:
        model = _aliases().get(model, model)
    if service is Provider.GEMINI and is_truthy(environment.get("GOOGLE_GENAI_USE_VERTEXAI")):
        return Provider.VERTEX, model
    return service, model


def _split_provider(name: str, environment: Mapping[str, str]) -> tuple[Provider, str]:
    before, colon, after = name.partition(":")
    for service in Provider:
        if colon and before == service.value:
            return service, after
    if environment.get("OPENAI_BASE_URL"):
        # The server of one's own: it may serve a `gemma-...` too.
        return Provider.OPENAI, name
    service = _provider_of(name)
    if service is not None:
        return service, name
    known = ", ".join(f"{service.value}:NAME" for service in Provider)
    message = _("Unknown model {name!r}. Add a provider prefix: {known}", name=name[:100], known=known)
    raise UsageError(message)


def _provider_of(name: str) -> Provider | None:
    if name in _aliases():
        return Provider.GEMINI
    return next((service for pattern, service in _NAME_PATTERNS if re.match(pattern, name)), None)


def _aliases() -> Mapping[str, str]:
    # Imported late: a model with a prefix has no alias.
    from tejat.models.catalogue.catalogue_file import builtin_catalogue

    return builtin_catalogue().aliases


def with_provider(name: str, environment: Mapping[str, str]) -> str:
    """Return a well-known model name so that it means the model of its provider, whatever the environment says."""
    service = _provider_of(name)
    if service is None or parse_model_name(name, environment)[0] in {service, Provider.VERTEX}:
        return name
    return f"{service.value}:{name}"


def ollama_base_url(environment: Mapping[str, str]) -> str:
    """Return the URL of Ollama's OpenAI-compatible API from `OLLAMA_HOST`, in every form that Ollama accepts."""
    host = environment.get("OLLAMA_HOST", "").strip().rstrip("/") or "localhost"
    scheme, separator, rest = host.rpartition("://")
    address, slash, path = rest.partition("/")
    if address.startswith(":"):
        address = f"localhost{address}"
    if not re.search(r":\d+$", address):
        address += {"http": ":80", "https": ":443"}.get(scheme, ":11434") if separator else ":11434"
    # A wildcard address is for listening, not for connecting.
    address = re.sub(r"^0\.0\.0\.0(?=:)", "127.0.0.1", address)
    return f"{scheme or 'http'}://{address}{slash}{path}/v1"
