"""Whether a service takes a key: asked once, with a request that costs nothing."""

from enum import StrEnum

from tejat.core.value import value
from tejat.models import ModelOptions
from tejat.models.address import ANTHROPIC_ADDRESS, GEMINI_ADDRESS, OPENAI_ADDRESS, base_address
from tejat.models.names import Service
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpFailure, HttpLimits

_LIMITS = HttpLimits(connect=5.0, first_byte=10.0, idle=10.0, whole=15.0, body=2**20)
_REFUSED = frozenset({400, 401, 403})


class KeyVerdict(StrEnum):
    TAKEN = "taken"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """The service could not be asked, or said neither."""


@value
class KeyedService:
    """A service that wants a key: the variable for it, where it is asked, and how it is told the key."""

    service: Service
    key_name: str
    address_name: str
    usual_address: str
    path: str
    header: str
    before_key: str = ""
    version: tuple[str, str] | None = None


KEYED = (
    KeyedService(
        Service.GEMINI,
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        GEMINI_ADDRESS,
        "/v1beta/models?pageSize=1",
        "x-goog-api-key",
    ),
    KeyedService(
        Service.ANTHROPIC,
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        ANTHROPIC_ADDRESS,
        "/v1/models?limit=1",
        "x-api-key",
        version=("anthropic-version", "2023-06-01"),
    ),
    KeyedService(
        Service.OPENAI,
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        OPENAI_ADDRESS,
        "/models",
        "authorization",
        "Bearer ",
    ),
)


async def check_key(asked: KeyedService, key: str, options: ModelOptions) -> tuple[KeyVerdict, str]:
    """What the service says to the key, and in words why it is not known. Raises UsageError for a wrong address."""
    base = base_address(options, variable=asked.address_name, usual=asked.usual_address, has_key=True)
    headers = {asked.header: f"{asked.before_key}{key}", **dict([asked.version] if asked.version else [])}
    http = HttpClient(environment=options.environment, limits=_LIMITS)
    try:
        async with http.request("GET", f"{base}{asked.path}", headers=headers) as response:
            status = response.status
    except HttpFailure as failure:
        return KeyVerdict.UNKNOWN, failure.message
    finally:
        await http.close()
    if status == 200:
        return KeyVerdict.TAKEN, ""
    return (KeyVerdict.REFUSED if status in _REFUSED else KeyVerdict.UNKNOWN), f"HTTP {status}"
