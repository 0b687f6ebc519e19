"""Lists of the models that a service or a local server offers."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.models import ModelOptions
from tejat.models.base_url import ANTHROPIC_BASE_URL, GEMINI_BASE_URL, OPENAI_BASE_URL, read_api_key, resolve_base_url
from tejat.models.gemini.client import ApiKeyAuth, api_version
from tejat.models.gemini.headers import custom_headers, uses_bearer, with_headers
from tejat.models.names import Provider, ollama_base_url
from tejat.models.openai.served_model import fetch_served_model, listed_window
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_json_or_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=5.0, first_byte=10.0, idle=10.0, total=15.0, body=4 * 2**20)
_MAX_BYTES = 4 * 2**20
_MAX_PAGES = 5
_GEMINI_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_MAX_MODELS = 1000
_MAX_WINDOW_QUERIES = 30
_LATEST_TIME = 10**11


class ListingFailure(Exception):
    """A service did not list its models. The message says why."""


class ServiceModel(Frozen):
    """A model that a service offers, by its own name there.

    `created` is its day in ISO format, "" if unknown; windows are None where the service says nothing.
    """

    id: str
    title: str = ""
    context_window: int | None = None
    max_output: int | None = None
    created: str = ""


def has_access(provider: Provider, options: ModelOptions) -> bool:
    """Return whether the service can be asked: there is a key, or an address of the user's own."""
    match provider:
        case Provider.GEMINI:
            return bool(_first_key(options, *_GEMINI_KEYS)) or not options.needs_key
        case Provider.ANTHROPIC:
            return bool(_first_key(options, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
        case Provider.OPENAI:
            own = options.environment.get("OPENAI_BASE_URL", "").strip() or options.base_url
            return bool(own or _first_key(options, "OPENAI_API_KEY"))
        case Provider.OLLAMA:
            return True
        case _:
            return False


async def fetch_models(provider: Provider, options: ModelOptions) -> tuple[ServiceModel, ...]:
    """Ask a service for its models, sorted by name. Raises ListingFailure, and UsageError for an invalid address."""
    ask = _LISTERS.get(provider)
    if ask is None:
        raise ListingFailure(_("This service does not list its models."))
    http = HttpClient(environment=options.environment, limits=_LIMITS)
    try:
        models = await ask(http, options)
    finally:
        await http.close()
    named = {model.id: model for model in models if re.fullmatch(r"[\x21-\x7e]{1,200}", model.id)}
    return tuple(sorted(named.values(), key=lambda model: model.id)[:_MAX_MODELS])


async def _list_gemini(http: HttpClient, options: ModelOptions) -> list[ServiceModel]:
    key = _first_key(options, *_GEMINI_KEYS)
    base = resolve_base_url(options, variable="GOOGLE_GEMINI_BASE_URL", default=GEMINI_BASE_URL, has_key=bool(key))
    auth = ApiKeyAuth(key, is_bearer=uses_bearer(options.environment))
    headers = await with_headers(auth.headers, custom_headers(options.environment))()
    url = f"{base}/{api_version(options, default='v1beta')}/models?pageSize=1000"
    models: list[ServiceModel] = []
    page = ""
    for _number in range(_MAX_PAGES):
        body = await _get(http, f"{url}{page}", headers)
        models += [
            _gemini_model(as_object(entry)) for entry in as_list(body.get("models")) if _can_chat(as_object(entry))
        ]
        token = as_str(body.get("nextPageToken"))
        if not re.fullmatch(r"[\w=.~-]{1,1000}", token):
            break
        page = f"&pageToken={token}"
    return models


def _can_chat(entry: Mapping[str, object]) -> bool:
    methods = as_list(entry.get("supportedGenerationMethods"))
    return not methods or "generateContent" in methods


def _gemini_model(entry: Mapping[str, object]) -> ServiceModel:
    window, output = as_count(entry.get("inputTokenLimit")), as_count(entry.get("outputTokenLimit"))
    name = as_str(entry.get("name")).removeprefix("models/")
    return ServiceModel(name, as_str(entry.get("displayName")), window or None, output or None)


async def _list_anthropic(http: HttpClient, options: ModelOptions) -> list[ServiceModel]:
    base = resolve_base_url(options, variable="ANTHROPIC_BASE_URL", default=ANTHROPIC_BASE_URL, has_key=True)
    key = read_api_key(options, "ANTHROPIC_API_KEY")
    token = read_api_key(options, "ANTHROPIC_AUTH_TOKEN")
    auth = {"x-api-key": key} if key else {"authorization": f"Bearer {token}"}
    headers = {"anthropic-version": "2023-06-01", **auth}
    body = await _get(http, f"{base.removesuffix('/v1')}/v1/models?limit=1000", headers)
    return [
        ServiceModel(
            as_str(entry.get("id")),
            as_str(entry.get("display_name")),
            as_count(entry.get("max_input_tokens")) or None,
            as_count(entry.get("max_tokens")) or None,
            _day(as_str(entry.get("created_at"))),
        )
        for entry in map(as_object, as_list(body.get("data")))
    ]


async def _list_openai(http: HttpClient, options: ModelOptions) -> list[ServiceModel]:
    key = read_api_key(options, "OPENAI_API_KEY")
    base = resolve_base_url(options, variable="OPENAI_BASE_URL", default=OPENAI_BASE_URL, has_key=bool(key))
    return await _list_compatible(http, base, {"authorization": f"Bearer {key}"} if key else {})


async def _list_compatible(http: HttpClient, base: str, headers: Mapping[str, str]) -> list[ServiceModel]:
    body = await _get(http, f"{base}/models", headers)
    return [
        ServiceModel(
            as_str(entry.get("id")),
            as_str(entry.get("name")),
            listed_window(entry) or None,
            created=_day_of_time(entry.get("created")),
        )
        for entry in map(as_object, as_list(body.get("data")))
    ]


async def _list_ollama(http: HttpClient, options: ModelOptions) -> list[ServiceModel]:
    """List Ollama's models, the first of them with the window that they are loaded with."""
    key = read_api_key(options, "OLLAMA_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    base = ollama_base_url(options.environment)
    models = await _list_compatible(http, base, headers)

    async def with_window(model: ServiceModel) -> ServiceModel:
        served = await fetch_served_model(http, base, model.id, headers=headers, environment=options.environment)
        return replace(model, context_window=served.context_window)

    asked = await asyncio.gather(*map(with_window, models[:_MAX_WINDOW_QUERIES]))
    return [*asked, *models[_MAX_WINDOW_QUERIES:]]


_LISTERS: Mapping[Provider, Callable[[HttpClient, ModelOptions], Awaitable[list[ServiceModel]]]] = {
    Provider.GEMINI: _list_gemini,
    Provider.ANTHROPIC: _list_anthropic,
    Provider.OPENAI: _list_openai,
    Provider.OLLAMA: _list_ollama,
}


async def _get(http: HttpClient, url: str, headers: Mapping[str, str]) -> Mapping[str, object]:
    """Return the JSON object at a URL. Raises ListingFailure."""
    try:
        async with http.request("GET", url, headers=headers) as response:
            status, body = response.status, await response.read(_MAX_BYTES)
    except HttpFailure as failure:
        raise ListingFailure(failure.message) from failure
    content = parse_json_or_text(body)
    if status in {401, 403}:
        raise ListingFailure(_("The service rejected the API key (HTTP {status}).", status=status))
    listing = as_object(content)
    if status != 200 or not listing:
        raise ListingFailure(_("The service does not list its models (HTTP {status}).", status=status))
    return listing


def _first_key(options: ModelOptions, *variables: str) -> str:
    return next((key for name in variables if (key := read_api_key(options, name))), "")


def _day(timestamp: str) -> str:
    found = re.match(r"\d{4}-\d\d-\d\d", timestamp)
    return found[0] if found else ""


def _day_of_time(created: object) -> str:
    """Return the day of a time in seconds, "" for none; local servers send 0 or the time of the request."""
    seconds = as_count(created)
    return time.strftime("%Y-%m-%d", time.gmtime(seconds)) if 0 < seconds < _LATEST_TIME else ""
