"""Discovery of models that are served on this machine."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.models.names import Provider, ollama_base_url, parse_model_name
from tejat.models.wire.json_access import as_list, as_object, as_str, parse_json_or_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=0.5, first_byte=1.0, idle=1.0, total=1.5, body=2**20)
_MAX_MODELS = 30
_MAX_BYTES = 2**20
_DEFAULT_PORTS = {"LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000, "Jan": 1337}


class LocalModel(Frozen):
    """`name` is the value for `-m`. `base_url` has to be set for it; None if it is not needed."""

    name: str
    server: str
    base_url: str | None = None


async def find_local_models(
    environment: Mapping[str, str], ports: Mapping[str, int] | None = None
) -> tuple[LocalModel, ...]:
    """Return the models that respond within about a second, Ollama's first. Never raises.

    Only this machine and `OLLAMA_HOST` are asked. `ports` maps names of OpenAI-compatible servers to their ports; None
    means the defaults.
    """
    http = HttpClient(environment=environment, limits=_LIMITS, use_proxies=False)
    try:
        found = await asyncio.gather(
            _list_models(http, ollama_base_url(environment), "Ollama", environment),
            *(
                _list_models(http, f"http://127.0.0.1:{port}/v1", server, environment)
                for server, port in (_DEFAULT_PORTS if ports is None else ports).items()
            ),
        )
    finally:
        await http.close()
    return tuple(model for models in found for model in models)


async def _list_models(
    http: HttpClient, base_url: str, server: str, environment: Mapping[str, str]
) -> list[LocalModel]:
    is_ollama = server == "Ollama"
    service = Provider.OLLAMA if is_ollama else Provider.OPENAI
    models: list[LocalModel] = []
    for identifier in await _fetch_model_ids(http, f"{base_url}/models"):
        name = f"{service.value}:{identifier}"
        with suppress(UsageError):
            parse_model_name(name, environment)
            models.append(LocalModel(name, server, None if is_ollama else base_url))
    return models[:_MAX_MODELS]


async def _fetch_model_ids(http: HttpClient, url: str) -> list[str]:
    try:
        async with http.request("GET", url) as response:
            if response.status != 200:
                return []
            body = parse_json_or_text(await response.read(_MAX_BYTES))
    except HttpFailure:
        return []
    return [as_str(as_object(entry).get("id")) for entry in as_list(as_object(body).get("data"))]
