"""Where a service is asked, and whether a key may go there."""

from urllib.parse import urlsplit

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy
from tejat.models import ModelOptions

GEMINI_BASE_URL = "https://generativelanguage.googleapis.com"
ANTHROPIC_BASE_URL = "https://api.anthropic.com"
OPENAI_BASE_URL = "https://api.openai.com/v1"

_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def resolve_base_url(options: ModelOptions, *, variable: str, default: str, has_key: bool) -> str:
    """The address by the variable of the environment, else by the settings, else the usual one; no slash at its end.

    Raises UsageError for what is no address, and for one to which the key would go for everybody to read. It says where
    a wrong address stands and does not repeat it: there may be a password in it.
    """
    from_environment = options.environment.get(variable, "").strip()
    address = from_environment or options.base_url or default
    source = variable if from_environment else gettext_lazy("The setting model.baseUrl")
    no_address = UsageError(
        gettext_lazy(
            "{source} is not the address of a service: that is http:// or https:// and a host, perhaps a port and a "
            "path.",
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
    # Who types it into the environment means it; settings are copied from others unread.
    if has_key and parts.scheme == "http" and host not in _LOOPBACK_HOSTS and not from_environment:
        raise UsageError(
            gettext_lazy(
                "The key would go to {host} for everybody on the way to read. Use https, or set {variable} to this "
                "address if you mean it.",
                host=host,
                variable=variable,
            )
        )
    return address.rstrip("/")


def read_api_key(options: ModelOptions, name: str) -> str:
    """The key in this variable of the environment, empty if there is none. Raises UsageError for what can be none."""
    key = options.environment.get(name, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise UsageError(gettext_lazy("{name} holds characters that no key has.", name=name))
    return key
