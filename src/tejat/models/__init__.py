"""Model clients, one subpackage per service, imported when a model of that service is opened."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.core.frozen import Frozen, field
from tejat.core.model import ModelClient
from tejat.models.names import Provider, ollama_base_url, parse_model_name

if TYPE_CHECKING:
    from tejat.models.presets.model import GenerationOf
    from tejat.workspace.http.types import HttpLimits


class ModelOptions(Frozen):
    """Settings of the model clients.

    `max_retry_wait` is the total time in seconds to wait between attempts. `http_limits` apply to one attempt; None
    means the defaults. `base_url` comes from the user's settings; the environment overrides it. `root` is the value of
    `${root}` in scripts. `generation_of` returns the generation settings of the user for a request. Without
    `retries_connections` a connection that is refused or breaks is final. With `ipv4_first`, IPv4 addresses are
    connected to first. `vertex_headers` are sent to Vertex AI only. `openai_api` is
    `responses` or `chat`; None chooses by the server. Without `needs_key`, a Gemini gateway is asked even
    if there is no key. `catalogue` is the file of the updated catalogue of
    models, "" for none.
    """

    environment: Mapping[str, str] = field(repr=False)
    max_attempts: int = 5
    max_retry_wait: float = 120.0
    http_limits: "HttpLimits | None" = None
    base_url: str | None = None
    root: str = ""
    generation_of: "GenerationOf | None" = None
    retries_connections: bool = True
    ipv4_first: bool = False
    vertex_headers: Mapping[str, str] = MappingProxyType({})
    openai_api: str | None = None
    needs_key: bool = True
    catalogue: str = ""


def open_model(name: str, options: ModelOptions) -> ModelClient:
    """Create a client for a model name. Nothing is sent yet.

    Raises UsageError for an invalid name, and ModelFailure when the key of the service is missing.
    """
    from tejat.models.retry import RetryingModel

    service, model = parse_model_name(name, options.environment)
    client = _open_client(service, model, options)
    rate_file = options.environment.get("TEJAT_RATE_LIMITS")
    if rate_file:
        from tejat.models.rate_limits.model import limit_model

        client = limit_model(client, service.value, rate_file, max_wait=options.max_retry_wait)
    if options.generation_of is not None:
        from tejat.models.presets.model import ConfiguredModel

        is_gemini = service in {Provider.GEMINI, Provider.VERTEX}
        client = ConfiguredModel(client, options.generation_of, is_gemini=is_gemini)
    return RetryingModel(
        client,
        max_attempts=options.max_attempts,
        max_total_wait=options.max_retry_wait,
        retries_connections=options.retries_connections,
        name=name.strip(),
    )


def _open_client(service: Provider, model: str, options: ModelOptions) -> ModelClient:
    match service:
        case Provider.GEMINI:
            from tejat.models.gemini.client import open_gemini

            return open_gemini(model, options)
        case Provider.VERTEX:
            from tejat.models.gemini.vertex import open_vertex

            return open_vertex(model, options)
        case Provider.ANTHROPIC:
            from tejat.models.anthropic.client import open_anthropic

            return open_anthropic(model, options)
        case Provider.OPENAI:
            from tejat.models.openai.client import open_openai

            # A server of one's own may need no key.
            own_server = options.environment.get("OPENAI_BASE_URL") or options.base_url
            return open_openai(model, options, needs_key=not own_server)
        case Provider.OLLAMA:
            from tejat.models.openai.client import open_openai

            address = ollama_base_url(options.environment)
            return open_openai(model, options, base_url=address, key_name="OLLAMA_API_KEY", needs_key=False)
        case Provider.AZURE:
            from tejat.models.openai.azure import open_azure

            return open_azure(model, options)
        case Provider.BEDROCK:
            from tejat.models.bedrock.client import open_bedrock

            return open_bedrock(model, options)
        case Provider.SCRIPTED:
            from tejat.models.scripted.model import open_scripted_model

            return open_scripted_model(model, root=options.root)
