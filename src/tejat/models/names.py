"""The names of models: which service has a model, and how much it can take in at once."""

import re
from collections.abc import Mapping
from enum import StrEnum

from tejat.core.errors import UsageError
from tejat.core.words import say


class Service(StrEnum):
    """Who serves a model; also what may stand before the colon of a name."""

    GEMINI = "gemini"
    VERTEX = "vertex"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"
    SCRIPTED = "scripted"


_BARE_NAMES = (
    (r"(?:models/|tunedModels/)?(?:gemini|gemma|learnlm)\b|tunedModels/", Service.GEMINI),
    (r"claude-", Service.ANTHROPIC),
    (r"(?:gpt-|chatgpt-|codex-|o[1-9](?:-|$))", Service.OPENAI),
)
# What becomes part of an address: nothing that ends a path, climbs out of it or is not text.
_PLAIN_NAME = r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}"

_WINDOWS = {
    "gemini-1.5-pro": 2_097_152,
    "gemini": 1_048_576,
    "gemma-3-1b": 32_768,
    "gemma-3n": 32_768,
    "gemma": 131_072,
    "claude": 200_000,
    "claude-fable": 1_000_000,
    "claude-haiku-5": 1_000_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "gpt-3.5": 16_385,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4": 8_192,
    "gpt-5": 272_000,
    "gpt-5.4": 1_050_000,
    "gpt-5.5": 1_050_000,
    "gpt-oss": 131_072,
    "o1-mini": 128_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
_USUAL_WINDOW = 128_000


def read_name(name: str, environment: Mapping[str, str]) -> tuple[Service, str]:
    """The service and its own name of the model. Raises UsageError for a name that means nothing to us."""
    service, model = _split(name.strip(), environment)
    if service is Service.SCRIPTED:
        if not model:
            raise UsageError(say("A scripted model needs a file: scripted:FILE"))
        return service, model
    if not re.fullmatch(_PLAIN_NAME, model):
        raise UsageError(say("Not the name of a model: {name!r}", name=name[:100]))
    if service is Service.GEMINI and is_true(environment.get("GOOGLE_GENAI_USE_VERTEXAI")):
        return Service.VERTEX, model
    return service, model


def _split(name: str, environment: Mapping[str, str]) -> tuple[Service, str]:
    before, colon, after = name.partition(":")
    for service in Service:
        if colon and before == service.value:
            return service, after
    for pattern, service in _BARE_NAMES:
        if re.match(pattern, name):
            return service, name
    if environment.get("OPENAI_BASE_URL"):
        return Service.OPENAI, name
    known = ", ".join(f"{service.value}:NAME" for service in Service)
    raise UsageError(
        say("Nobody is known to serve a model called {name!r}. Say who does: {known}", name=name[:100], known=known)
    )


def is_true(value: str | None) -> bool:
    """Whether a variable of the environment switches something on."""
    return value is not None and value.strip().lower() in {"1", "true", "yes", "on"}


def ollama_address(environment: Mapping[str, str]) -> str:
    """Where Ollama speaks the protocol of OpenAI, by `OLLAMA_HOST` in all the spellings that Ollama takes."""
    host = environment.get("OLLAMA_HOST", "").strip().rstrip("/") or "localhost"
    scheme, separator, rest = host.rpartition("://")
    address, slash, path = rest.partition("/")
    if address.startswith(":"):
        address = f"localhost{address}"
    if not re.search(r":\d+$", address):
        address += {"http": ":80", "https": ":443"}.get(scheme, ":11434") if separator else ":11434"
    # The address that a server listens on when it listens everywhere is none to call.
    address = re.sub(r"^0\.0\.0\.0(?=:)", "127.0.0.1", address)
    return f"{scheme or 'http'}://{address}{slash}{path}/v1"


def context_window(model: str) -> int:
    """How many tokens a request to the model may have, as its maker says, or a usual figure for one not known."""
    own_name = model.rpartition("/")[2].lower()
    beginnings = [known for known in _WINDOWS if own_name.startswith(known)]
    return _WINDOWS[max(beginnings, key=len)] if beginnings else _USUAL_WINDOW
