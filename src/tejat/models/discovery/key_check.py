"""Check of an API key by a request that costs nothing."""

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.models import ModelOptions
from tejat.models.base_url import ANTHROPIC_BASE_URL, GEMINI_BASE_URL, OPENAI_BASE_URL, resolve_base_url
from tejat.models.names import Provider
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=5.0, first_byte=10.0, idle=10.0, total=15.0, body=2**20)
_INVALID_STATUSES = frozenset({400, 401, 403})


class KeyStatus(StrEnum):
    VALID = "taken"
    INVALID = "refused"
    UNKNOWN = "unknown"
    """The service is unreachable, or its response is inconclusive."""


class ApiKeyService(Frozen):
    """A service that needs a key, and how to send it."""

    provider: Provider
    key_variable: str
    base_url_variable: str
    default_base_url: str
    path: str
    header: str
    key_prefix: str = ""
    other_headers: tuple[tuple[str, str], ...] = ()


API_KEY_SERVICES = (
    ApiKeyService(
        Provider.GEMINI,
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        GEMINI_BASE_URL,
        "/v1beta/models?pageSize=1",
        "x-goog-api-key",
    ),
    ApiKeyService(
        Provider.ANTHROPIC,
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        ANTHROPIC_BASE_URL,
        "/v1/models?limit=1",
        "x-api-key",
        other_headers=(("anthropic-version", "2023-06-01"),),
    ),
    ApiKeyService(
        Provider.OPENAI, "OPENAI_API_KEY", "OPENAI_BASE_URL", OPENAI_BASE_URL, "/models", "authorization", "Bearer "
    ),
)


async def check_key(service: ApiKeyService, key: str, options: ModelOptions) -> tuple[KeyStatus, str]:
    """Ask the service about the key; the text says why the result is unknown. Raises UsageError for an invalid URL."""
    base = resolve_base_url(options, variable=service.base_url_variable, default=service.default_base_url, has_key=True)
    headers = {service.header: f"{service.key_prefix}{key}", **dict(service.other_headers)}
    http = HttpClient(environment=options.environment, limits=_LIMITS)
    try:
        async with http.request("GET", f"{base}{service.path}", headers=headers) as response:
            status = response.status
    except HttpFailure as failure:
        return KeyStatus.UNKNOWN, failure.message
    finally:
        await http.close()
    if status == 200:
        return KeyStatus.VALID, ""
    return (KeyStatus.INVALID if status in _INVALID_STATUSES else KeyStatus.UNKNOWN), f"HTTP {status}"
