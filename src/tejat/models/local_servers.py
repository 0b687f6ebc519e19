"""Models that are served on this machine: looked for on the ports where such servers usually listen."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.core.value import value
from tejat.models.json_shapes import items_of, json_or_text, object_of, text_of
from tejat.models.names import Service, ollama_address, read_name
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=0.5, first_byte=1.0, idle=1.0, whole=1.5, body=2**20)
_MOST_MODELS = 30
_MOST_BYTES = 2**20
_USUAL_PORTS = {"LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000, "Jan": 1337}


@value
class LocalModel:
    """`name` is what the flag `-m` takes; `base_url` has to be set for it, None where the name says enough."""

    name: str
    server: str
    base_url: str | None = None


async def find_local_models(
    environment: Mapping[str, str], ports: Mapping[str, int] | None = None
) -> tuple[LocalModel, ...]:
    """What answers within about a second, Ollama's first; raises nothing.

    Only this machine is asked, and where `OLLAMA_HOST` says that Ollama is. `ports` are those of servers that speak as
    OpenAI does, by the name of the server; None for the usual ones.
    """
    http = HttpClient(environment=environment, limits=_LIMITS, use_proxies=False)
    try:
        found = await asyncio.gather(
            _models_at(http, ollama_address(environment), "Ollama", environment),
            *(
                _models_at(http, f"http://127.0.0.1:{port}/v1", server, environment)
                for server, port in (_USUAL_PORTS if ports is None else ports).items()
            ),
        )
    finally:
        await http.close()
    return tuple(model for models in found for model in models)


async def _models_at(http: HttpClient, base_url: str, server: str, environment: Mapping[str, str]) -> list[LocalModel]:
    is_ollama = server == "Ollama"
    service = Service.OLLAMA if is_ollama else Service.OPENAI
    models: list[LocalModel] = []
    for identifier in await _identifiers(http, f"{base_url}/models"):
        name = f"{service.value}:{identifier}"
        with suppress(UsageError):
            read_name(name, environment)
            models.append(LocalModel(name, server, None if is_ollama else base_url))
    return models[:_MOST_MODELS]


async def _identifiers(http: HttpClient, url: str) -> list[str]:
    try:
        async with http.request("GET", url) as response:
            if response.status != 200:
                return []
            body = json_or_text(await response.read(_MOST_BYTES))
    except HttpFailure:
        return []
    return [text_of(object_of(entry).get("id")) for entry in items_of(object_of(body).get("data"))]
