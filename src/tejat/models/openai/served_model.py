"""Facts that a local server reports about a model: its context window, and whether its template takes tools."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from tejat.core.frozen import Frozen
from tejat.core.json_text import dump_json
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_json_or_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=1.0, first_byte=2.0, idle=2.0, total=2.5, body=4 * 2**20)
_MAX_BYTES = 4 * 2**20
_WINDOW_KEYS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")
_DEFAULT_OLLAMA_WINDOW = 4096
"""The window that Ollama gives a model on most machines. A longer prompt is cut there without an error."""


class ServedModel(Frozen):
    """What a server says about one of its models; None where it says nothing.

    `is_final` is False if the server may say something else after it has loaded the model.
    """

    context_window: int | None = None
    supports_tools: bool | None = None
    is_final: bool = True


def is_local_server(base_url: str) -> bool:
    """Return whether a server is on this machine or in a private network."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith((".local", ".internal", ".lan"))


async def fetch_served_model(
    http: HttpClient, base_url: str, model: str, *, headers: Mapping[str, str], environment: Mapping[str, str]
) -> ServedModel:
    """Ask llama.cpp, Ollama, vLLM, LM Studio and their like about a model, all at once. Takes at most a few seconds.

    `base_url` ends with the version, as in `http://localhost:8080/v1`. Raises only CancelledError.
    """
    root = re.sub(r"/v\d+$", "", base_url)
    name = dump_json({"model": model}).encode()
    props, models, lm_studio, shown, running = await asyncio.gather(
        _fetch(http, "GET", f"{root}/props?model={quote(model, safe='')}", headers),
        _fetch(http, "GET", f"{base_url}/models", headers),
        _fetch(http, "GET", f"{root}/api/v0/models", headers),
        _fetch(http, "POST", f"{root}/api/show", headers, name),
        _fetch(http, "GET", f"{root}/api/ps", headers),
    )
    answers = (
        _from_llama_cpp(props),
        _from_ollama(shown, running, model, environment),
        _from_model_list(lm_studio, model),
        _from_model_list(models, model),
    )
    window = next((info for info in answers if info.context_window), ServedModel(is_final=False))
    tools = next((info.supports_tools for info in answers if info.supports_tools is not None), None)
    return ServedModel(window.context_window, tools, window.is_final)


async def _fetch(
    http: HttpClient, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
) -> Mapping[str, object]:
    """Return the JSON object at a URL, empty if there is none."""
    if body:
        headers = {**headers, "content-type": "application/json"}
    try:
        async with http.request(method, url, headers=headers, body=body, limits=_LIMITS) as response:
            if response.status != 200:
                return {}
            return as_object(parse_json_or_text(await response.read(_MAX_BYTES)))
    except HttpFailure:
        return {}


def _from_llama_cpp(props: Mapping[str, object]) -> ServedModel:
    window = as_count(as_object(props.get("default_generation_settings")).get("n_ctx"))
    supports_tools = as_object(props.get("chat_template_caps")).get("supports_tools")
    return ServedModel(window or None, supports_tools if isinstance(supports_tools, bool) else None)


def _from_ollama(
    shown: Mapping[str, object], running: Mapping[str, object], model: str, environment: Mapping[str, str]
) -> ServedModel:
    """Read the window that a loaded model has, or else the one that it will be loaded with."""
    info = as_object(shown.get("model_info"))
    if not info:
        return ServedModel()
    capabilities = as_list(shown.get("capabilities"))
    supports_tools = "tools" in capabilities if capabilities else None
    loaded = _find_model(as_list(running.get("models")), model, only_exact=True)
    window = as_count(loaded.get("context_length"))
    if window:
        return ServedModel(window, supports_tools)
    stated = re.search(r"(?m)^num_ctx\s+(\d{1,9})\s*$", as_str(shown.get("parameters")))
    if stated is not None:
        return ServedModel(int(stated[1]), supports_tools)
    configured = environment.get("OLLAMA_CONTEXT_LENGTH", "")
    usual = int(configured) if re.fullmatch(r"[1-9]\d{1,8}", configured) else _DEFAULT_OLLAMA_WINDOW
    longest = max((as_count(value) for key, value in info.items() if key.endswith(".context_length")), default=0)
    return ServedModel(min(usual, longest or usual), supports_tools, is_final=False)


def _from_model_list(listed: Mapping[str, object], model: str) -> ServedModel:
    """Read a list of models, in which servers state the window under different names."""
    entry = _find_model(as_list(listed.get("data")), model)
    return ServedModel(
        listed_window(entry) or None, is_final="loaded_context_length" in entry or "max_context_length" not in entry
    )


def listed_window(entry: Mapping[str, object]) -> int:
    """Return the context window that an entry of a list of models states, 0 if it states none."""
    window = as_count(as_object(entry.get("meta")).get("n_ctx"))
    return window or next((found for key in _WINDOW_KEYS if (found := as_count(entry.get(key)))), 0)


def _find_model(entries: Sequence[object], model: str, *, only_exact: bool = False) -> Mapping[str, object]:
    """Return the entry of a model. A server with one model serves it under any name."""
    objects = [as_object(entry) for entry in entries]
    names = {model, model.removesuffix(":latest"), f"{model}:latest"}
    for entry in objects:
        if names & {as_str(entry.get(key)) for key in ("id", "name", "model", "root")}:
            return entry
    return objects[0] if len(objects) == 1 and not only_exact else {}
