"""The models: one client for each service, loaded when a model of that service is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tejat.core.model import ModelClient
from tejat.core.value import field, value
from tejat.models.names import Service, ollama_address, read_name

if TYPE_CHECKING:
    from tejat.workspace.http.values import HttpLimits


@value
class ModelOptions:
    """How models are reached.

    `patience` is how many seconds all waiting between attempts may take together. `limits` are those of one attempt,
    None for the usual ones. `base_url` is from the person's settings; the environment overrules it. `root` stands for
    `${root}` in scripts.
    """

    environment: Mapping[str, str] = field(repr=False)
    attempts: int = 5
    patience: float = 120.0
    limits: "HttpLimits | None" = None
    base_url: str | None = None
    root: str = ""


def open_model(name: str, options: ModelOptions) -> ModelClient:
    """A client for the model of that name. Nothing goes over the network yet.

    Raises UsageError for a name that it cannot read, and ModelFailure when there is no key for the service.
    """
    from tejat.models.retry import Retrying

    return Retrying(_open(name, options), attempts=options.attempts, patience=options.patience, name=name.strip())


def _open(name: str, options: ModelOptions) -> ModelClient:
    service, model = read_name(name, options.environment)
    match service:
        case Service.GEMINI:
            from tejat.models.gemini import open_gemini

            return open_gemini(model, options)
        case Service.VERTEX:
            from tejat.models.vertex import open_vertex

            return open_vertex(model, options)
        case Service.ANTHROPIC:
            from tejat.models.anthropic import open_anthropic

            return open_anthropic(model, options)
        case Service.OPENAI:
            from tejat.models.openai import open_openai

            # Whoever names a server of their own need not have a key for it.
            own_server = options.environment.get("OPENAI_BASE_URL") or options.base_url
            return open_openai(model, options, needs_key=not own_server)
        case Service.OLLAMA:
            from tejat.models.openai import open_openai

            address = ollama_address(options.environment)
            return open_openai(model, options, base_url=address, key_name="OLLAMA_API_KEY", needs_key=False)
        case Service.SCRIPTED:
            from tejat.models.scripted import open_scripted

            return open_scripted(model, root=options.root)
