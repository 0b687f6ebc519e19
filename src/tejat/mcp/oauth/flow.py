"""OAuth flow of the official package, over our own HTTP client. Slow to import."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar
from urllib.parse import urlencode

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.callback import AuthorizationResponse
from tejat.mcp.oauth.http_client import OAuthHttpClient, OAuthResponse
from tejat.mcp.oauth.settings import OAuthSettings
from tejat.mcp.oauth.token_store import OAuthGrant
from tejat.mcp.protocol import HANDSHAKE_REVISIONS

Authorize: TypeAlias = Callable[[str], Awaitable[AuthorizationResponse]]
"""Lets the user log in at a page, and returns the response. Raises McpFailure."""

_HOP_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_FORM = "application/x-www-form-urlencoded"
_MAX_REASON_LENGTH = 200
_EXPIRED = 1.0
_Model = TypeVar("_Model", bound=BaseModel)


class OAuthFlow:
    """Logs in to one MCP server, or refreshes a grant. Used once."""

    def __init__(self, settings: OAuthSettings, requests: OAuthHttpClient) -> None:
        self._settings = settings
        self._http = requests
        self._last_response: OAuthResponse | None = None

    async def log_in(
        self, *, redirect_uri: str, challenge: str | None, authorize: Authorize, previous_scope: str | None = None
    ) -> OAuthGrant:
        """Let the user log in, and return the grant. Raises McpFailure.

        `challenge` is that of the MCP server, `previous_scope` the scope of an earlier grant: if the server requires
        more, both are requested.
        """
        pages: list[str] = []

        async def remember(page: str) -> None:
            pages.append(f"{page}&{self._audience_param()}" if self._settings.audiences else page)

        async def come_back() -> AuthorizationCodeResult:
            returned = await authorize(pages[-1])
            _choose_auth_method(provider, self._settings)
            return AuthorizationCodeResult(code=returned.code, state=returned.state, iss=returned.issuer)

        try:
            client = OAuthClientMetadata(
                client_name="Tejat",
                redirect_uris=[AnyUrl(redirect_uri)],
                token_endpoint_auth_method="none",
                scope=previous_scope,
            )
            memory = _MemoryStorage(None, _configured_client(self._settings, redirect_uri))
            provider = OAuthClientProvider(self._settings.server_url, client, memory, remember, come_back)
            provider.context.oauth_metadata = _configured_metadata(self._settings)
            await self._run_provider(provider, _challenge_response(self._settings, challenge))
        except (OAuthFlowError, ValueError) as error:
            raise McpFailure(lazy("The login failed: {why}", why=_reason(error)), McpProblem.UNAUTHORIZED) from None
        return _grant_from_provider(provider)

    async def refresh(self, grant: OAuthGrant) -> OAuthGrant:
        """Return the grant with new tokens. Raises McpFailure, with UNAUTHORIZED only if a new login is needed."""
        try:
            known = OAuthToken(access_token=grant.access_token, refresh_token=grant.refresh_token, scope=grant.scope)
            memory = _MemoryStorage(known, _validate(OAuthClientInformationFull, grant.client))
            provider = OAuthClientProvider(self._settings.server_url, OAuthClientMetadata(redirect_uris=None), memory)
            provider.context.oauth_metadata = _validate(OAuthMetadata, grant.service)
            provider.context.protected_resource_metadata = _validate(ProtectedResourceMetadata, grant.resource)
            provider.context.token_expiry_time = _EXPIRED
            await self._run_provider(provider, None)
        except (OAuthFlowError, ValueError) as error:
            message = lazy("Could not refresh the login: {why}", why=_reason(error))
            raise McpFailure(message, McpProblem.UNAUTHORIZED) from None
        if self._last_response is None or self._last_response.status != 200 or provider.context.current_tokens is None:
            raise _refresh_failure(self._last_response)
        return _grant_from_provider(provider)

    async def _run_provider(self, provider: OAuthClientProvider, refusal: httpx2.Response | None) -> None:
        """Run the provider up to the authorized request, which is answered with `refusal` and never sent."""
        # The package would log failures, with server responses, to stderr.
        logging.getLogger("mcp.client.auth.oauth2").disabled = True
        target = httpx2.Request(
            "POST", self._settings.server_url, headers={"MCP-Protocol-Version": HANDSHAKE_REVISIONS[0]}
        )
        flow = provider.async_auth_flow(target)
        try:
            request = await anext(flow)
            while True:
                if request is not target:
                    response = await self._send(request)
                elif refusal is not None:
                    response, refusal = refusal, None
                else:
                    return
                request = await flow.asend(response)
        finally:
            await flow.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_HEADERS}
        body = request.read()
        if self._settings.audiences and request.headers.get("content-type") == _FORM:
            body += f"&{self._audience_param()}".encode()
        reply = await self._http.request(request.method, str(request.url), headers=headers, body=body)
        self._last_response = reply
        return httpx2.Response(reply.status, headers=list(reply.headers), content=reply.body, request=request)

    def _audience_param(self) -> str:
        return urlencode({"audience": " ".join(self._settings.audiences)})


class _MemoryStorage:
    """In-memory storage for a provider."""

    def __init__(self, tokens: OAuthToken | None, client: OAuthClientInformationFull | None) -> None:
        self._tokens = tokens
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


def _configured_client(settings: OAuthSettings, redirect: str) -> OAuthClientInformationFull | None:
    if settings.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=settings.client_id,
        client_secret=settings.client_secret,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="none" if settings.client_secret is None else "client_secret_post",
    )


def _configured_metadata(settings: OAuthSettings) -> OAuthMetadata | None:
    if settings.authorization_url is None or settings.token_url is None:
        return None
    return OAuthMetadata.model_validate(
        {
            "issuer": settings.issuer or settings.authorization_url,
            "authorization_endpoint": settings.authorization_url,
            "token_endpoint": settings.token_url,
        }
    )


def _choose_auth_method(provider: OAuthClientProvider, settings: OAuthSettings) -> None:
    """Choose how to send a client secret from the settings."""
    client, service = provider.context.client_info, provider.context.oauth_metadata
    if client is None or service is None or settings.client_secret is None or settings.token_url is not None:
        return
    taken = service.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    client.token_endpoint_auth_method = next(
        (method for method in ("client_secret_post", "client_secret_basic") if method in taken), "client_secret_post"
    )


def _challenge_response(settings: OAuthSettings, challenge: str | None) -> httpx2.Response:
    """Return the response that starts a login: with the challenge, or with the metadata already known."""
    # The first scope in a challenge counts, so the settings go first.
    parts = [f'Bearer scope="{" ".join(settings.scopes)}"'] if settings.scopes else []
    is_known = settings.authorization_url is not None
    if is_known:
        parts.append('Bearer error="insufficient_scope"')
    elif challenge is not None and challenge.isascii() and challenge.isprintable():
        parts.append(challenge)
    wants_more = is_known or any("insufficient_scope" in part for part in parts)
    return httpx2.Response(403 if wants_more else 401, headers={"WWW-Authenticate": ", ".join(parts) or "Bearer"})


def _grant_from_provider(provider: OAuthClientProvider) -> OAuthGrant:
    context = provider.context
    tokens = context.current_tokens
    if tokens is None:
        raise McpFailure(lazy("The login returned no token."), McpProblem.UNAUTHORIZED)
    return OAuthGrant(
        tokens.access_token,
        tokens.refresh_token,
        context.token_expiry_time if tokens.expires_in is not None else None,
        tokens.scope,
        _dump(context.client_info),
        _dump(context.oauth_metadata),
        _dump(context.protected_resource_metadata),
    )


def _dump(model: BaseModel | None) -> JsonObject | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


def _validate(model: type[_Model], known: JsonObject | None) -> _Model | None:
    return None if known is None else model.model_validate(known)


def _refresh_failure(reply: OAuthResponse | None) -> McpFailure:
    """Return the failure of a refresh. Only OAuth errors are final: server trouble and captive portals are not."""
    if reply is None:
        return McpFailure(lazy("There is no refresh token."), McpProblem.UNAUTHORIZED)
    try:
        body = load_json(reply.body)
    except InvalidJson:
        body = None
    is_final = 400 <= reply.status < 500 and isinstance(body, dict) and "error" in body
    problem = McpProblem.UNAUTHORIZED if is_final else McpProblem.START
    return McpFailure(lazy("Could not refresh the login (HTTP {status}).", status=reply.status), problem)


def _reason(error: Exception) -> str:
    """Return the first line of an error: others may quote tokens."""
    if isinstance(error, ValidationError):
        return lazy("the server sent an invalid OAuth response.")
    lines = str(error).splitlines() or [type(error).__name__]
    return sanitize_text(lines[0][:_MAX_REASON_LENGTH])
