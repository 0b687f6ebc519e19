"""The models: one client for each service, loaded when a model of that service is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tejat.core.frozen import field, frozen
from tejat.core.model import ModelClient
from tejat.models.names import Provider, ollama_base_url, parse_model_name

if TYPE_CHECKING:
    from tejat.workspace.http.types import HttpLimits


@frozen
class ModelOptions:
    """How models are reached.

    `patience` is how many seconds all waiting between attempts may take together. `limits` are those of one attempt,
    None for the usual ones. `base_url` is from the person's settings; the environment overrules it. `root` stands for
    `${root}` in scripts.
    """

    environment: Mapping[str, str] = field(repr=False)
    max_attempts: int = 5
    max_retry_wait: float = 120.0
    http_limits: "HttpLimits | None" = None
    base_url: str | None = None
    root: str = ""


def open_model(name: str, options: ModelOptions) -> ModelClient:
    """A client for the model of that name. Nothing goes over the network yet.

    Raises UsageError for a name that it cannot read, and ModelFailure when there is no key for the service.
    """
    from tejat.models.retry import RetryingModel

    return RetryingModel(
        _open_client(name, options),
        max_attempts=options.max_attempts,
        max_total_wait=options.max_retry_wait,
        name=name.strip(),
    )


def _open_client(name: str, options: ModelOptions) -> ModelClient:
    service, model = parse_model_name(name, options.environment)
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

            # Whoever names a server of their own need not have a key for it.
            own_server = options.environment.get("OPENAI_BASE_URL") or options.base_url
            return open_openai(model, options, needs_key=not own_server)
        case Provider.OLLAMA:
            from tejat.models.openai.client import open_openai

            address = ollama_base_url(options.environment)
            return open_openai(model, options, base_url=address, key_name="OLLAMA_API_KEY", needs_key=False)
        case Provider.SCRIPTED:
            from tejat.models.scripted.model import open_scripted_model

            return open_scripted_model(model, root=options.root)
