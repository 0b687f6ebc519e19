"""Base URLs and API keys of the services."""

from urllib.parse import urlsplit

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.models import ModelOptions

GEMINI_BASE_URL = "https://generativelanguage.googleapis.com"
ANTHROPIC_BASE_URL = "https://api.anthropic.com"
OPENAI_BASE_URL = "https://api.openai.com/v1"

_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def resolve_base_url(options: ModelOptions, *, variable: str, default: str, has_key: bool) -> str:
    """Return the base URL from the environment variable, the settings or the default, without a trailing slash.

    Raises UsageError for an invalid URL, and for one that would send the key unencrypted. The message names the source
    of the URL and does not repeat it: it may contain a password.
    """
    from_environment = options.environment.get(variable, "").strip()
    address = from_environment or options.base_url or default
    source = variable if from_environment else lazy("The setting model.baseUrl")
    no_address = UsageError(
        lazy(
            "{source} is not a valid service address. Use http:// or https://, a host, and an optional port and path.",
            source=source,
        )
    )
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise no_address from None
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise no_address
    # A variable is set on purpose; settings may be copied from others unread.
    if has_key and parts.scheme == "http" and host not in _LOOPBACK_HOSTS and not from_environment:
        message = lazy(
            "The API key would be sent unencrypted to {host}. Use https, or set {variable} to this "
            "address to allow it.",
            host=host,
            variable=variable,
        )
        raise UsageError(message)
    return address.rstrip("/")


def read_api_key(options: ModelOptions, name: str) -> str:
    """Return the key in an environment variable, or an empty string. Raises UsageError for invalid characters."""
    key = options.environment.get(name, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise UsageError(lazy("{name} contains characters that are not valid in an API key.", name=name))
    return key
