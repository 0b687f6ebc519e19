"""OAuth settings of a server."""

from tejat.config.settings.types import McpServer, OAuth
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.token_store import TokenKey
from tejat.mcp.transports.http_channel import parse_origin


class OAuthSettings(Frozen):
    """How to log in to the MCP server at `server_url`. None means: as the servers say.

    The repr hides the secrets.
    """

    server_url: str
    client_id: str | None = None
    client_secret: str | None = None
    scopes: tuple[str, ...] = ()
    authorization_url: str | None = None
    token_url: str | None = None
    issuer: str | None = None
    redirect_uri: str | None = None
    audiences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OAuthWish(client_id={self.client_id!r})"


def parse_oauth_settings(server: McpServer) -> OAuthSettings:
    """Parse the settings. Raises McpFailure with CONFIGURATION for unsupported or incomplete ones."""
    if server.auth_provider_type not in (None, "dynamic_discovery"):
        message = lazy(
            "authProviderType {kind} is not supported: remove it, or use headers.", kind=server.auth_provider_type
        )
        raise _configuration_failure(message)
    given: OAuth = server.oauth or {}
    if "tokenParamName" in given:
        message = lazy("oauth.tokenParamName is not supported: tokens in addresses end up in logs.")
        raise _configuration_failure(message)
    settings = OAuthSettings(
        server.http_url or server.url or "",
        _text(given, "clientId"),
        _text(given, "clientSecret"),
        _texts(given, "scopes"),
        _text(given, "authorizationUrl"),
        _text(given, "tokenUrl"),
        _text(given, "issuer"),
        _text(given, "redirectUri"),
        _texts(given, "audiences"),
    )
    if (settings.authorization_url is None) != (settings.token_url is None):
        raise _configuration_failure(lazy("oauth.authorizationUrl and oauth.tokenUrl must be set together."))
    if settings.authorization_url is not None and settings.client_id is None:
        message = lazy("oauth.authorizationUrl needs oauth.clientId: automatic registration is not possible there.")
        raise _configuration_failure(message)
    if any(not scope.isascii() or not scope.isprintable() or '"' in scope for scope in settings.scopes):
        raise _configuration_failure(lazy("oauth.scopes contains invalid characters."))
    return settings


def token_key(alias: str, server: McpServer) -> TokenKey:
    """Return the key of a server's tokens. Raises McpFailure with CONFIGURATION for an invalid URL."""
    origin = parse_origin(server.http_url or server.url or "")
    return TokenKey(alias, f"{origin.scheme}://{origin.authority}")


def _text(given: OAuth, name: str) -> str | None:
    found = given.get(name)
    return found if isinstance(found, str) and found else None


def _texts(given: OAuth, name: str) -> tuple[str, ...]:
    found = given.get(name)
    return found if isinstance(found, tuple) else ()


def _configuration_failure(message: str) -> McpFailure:
    return McpFailure(message, McpProblem.CONFIGURATION)
