"""What the settings of a server say about logging in there."""

from tejat.config.settings import McpServer, OAuth
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.oauth_tokens import Holder
from tejat.workspace.http.address import read_url
from tejat.workspace.http.values import HttpFailure


@value
class OAuthWish:
    """How to log in at the MCP server whose address is `server`. None: whatever the servers tell.

    It is printed without what may be secret.
    """

    server: str
    client_id: str | None = None
    client_secret: str | None = None
    scopes: tuple[str, ...] = ()
    authorization_url: str | None = None
    token_url: str | None = None
    issuer: str | None = None
    redirect: str | None = None
    audiences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OAuthWish(client_id={self.client_id!r})"


def read_wish(server: McpServer) -> OAuthWish:
    """Raises McpFailure with CONFIGURATION for what is not supported or leads nowhere."""
    if server.auth_provider_type not in (None, "dynamic_discovery"):
        raise _wrong(
            phrase(
                "authProviderType {kind} is not supported: leave it out, or use headers.",
                kind=server.auth_provider_type,
            )
        )
    given: OAuth = server.oauth or {}
    if "tokenParamName" in given:
        raise _wrong(phrase("oauth.tokenParamName is not supported: a token in an address gets into logs."))
    wish = OAuthWish(
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
    if (wish.authorization_url is None) != (wish.token_url is None):
        raise _wrong(phrase("oauth.authorizationUrl and oauth.tokenUrl go together: give both, or none."))
    if wish.authorization_url is not None and wish.client_id is None:
        raise _wrong(phrase("oauth.authorizationUrl needs an oauth.clientId: nobody can register us there."))
    if any(not scope.isascii() or not scope.isprintable() or '"' in scope for scope in wish.scopes):
        raise _wrong(phrase("oauth.scopes has characters that no scope has."))
    return wish


def holder_of(alias: str, server: McpServer) -> Holder:
    """Raises McpFailure with CONFIGURATION for an address that is none."""
    try:
        origin = read_url(server.http_url or server.url or "")[0]
    except HttpFailure as failure:
        raise _wrong(failure.message) from None
    return Holder(alias, f"{origin.scheme}://{origin.authority}")


def _text(given: OAuth, name: str) -> str | None:
    found = given.get(name)
    return found if isinstance(found, str) and found else None


def _texts(given: OAuth, name: str) -> tuple[str, ...]:
    found = given.get(name)
    return found if isinstance(found, tuple) else ()


def _wrong(message: str) -> McpFailure:
    return McpFailure(message, McpProblem.CONFIGURATION)
