"""The OAuth of the official package, asked step by step over our own HTTP. It takes long to load."""

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

from tejat.core.json_text import NotJson, load_json
from tejat.core.types import JsonObject
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.oauth_callback import Returned
from tejat.mcp.oauth_requests import OAuthRequests, Reply
from tejat.mcp.oauth_tokens import Grant
from tejat.mcp.oauth_wish import OAuthWish
from tejat.mcp.protocol import HANDSHAKE_REVISIONS

SendPerson: TypeAlias = Callable[[str], Awaitable[Returned]]
"""Lets the person log in at a page, and gives what they came back with. Raises McpFailure."""

_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_FORM = "application/x-www-form-urlencoded"
_LONGEST_REASON = 200
_LONG_AGO = 1.0
_Model = TypeVar("_Model", bound=BaseModel)


class Flow:
    """Logs in at one MCP server, or renews what was granted there: once, then it is used up."""

    def __init__(self, wish: OAuthWish, requests: OAuthRequests) -> None:
        self._wish = wish
        self._requests = requests
        self._last: Reply | None = None

    async def log_in(
        self, *, redirect: str, challenge: str | None, send_person: SendPerson, before: str | None = None
    ) -> Grant:
        """What a person grants us who logs in at the page that the servers name. Raises McpFailure.

        `redirect` is where they come back to, `challenge` what the MCP server said about who may ask, `before` the
        scope of an earlier grant: if the server wants more than that, both are asked for.
        """
        pages: list[str] = []

        async def remember(page: str) -> None:
            pages.append(f"{page}&{self._audience()}" if self._wish.audiences else page)

        async def come_back() -> AuthorizationCodeResult:
            returned = await send_person(pages[-1])
            _choose_method(provider, self._wish)
            return AuthorizationCodeResult(code=returned.code, state=returned.state, iss=returned.issuer)

        try:
            client = OAuthClientMetadata(
                client_name="Tejat",
                redirect_uris=[AnyUrl(redirect)],
                token_endpoint_auth_method="none",
                scope=before,
            )
            memory = _Memory(None, _registered(self._wish, redirect))
            provider = OAuthClientProvider(self._wish.server, client, memory, remember, come_back)
            provider.context.oauth_metadata = _given_service(self._wish)
            await self._through(provider, _refusal(self._wish, challenge))
        except (OAuthFlowError, ValueError) as error:
            raise McpFailure(phrase("The login failed: {why}", why=_reason(error)), McpProblem.UNAUTHORISED) from None
        return _granted(provider)

    async def renew(self, grant: Grant) -> Grant:
        """The grant with new tokens. Raises McpFailure, with UNAUTHORISED only where a person must log in again."""
        try:
            known = OAuthToken(access_token=grant.access_token, refresh_token=grant.refresh_token, scope=grant.scope)
            memory = _Memory(known, _read(OAuthClientInformationFull, grant.client))
            provider = OAuthClientProvider(self._wish.server, OAuthClientMetadata(redirect_uris=None), memory)
            provider.context.oauth_metadata = _read(OAuthMetadata, grant.service)
            provider.context.protected_resource_metadata = _read(ProtectedResourceMetadata, grant.resource)
            provider.context.token_expiry_time = _LONG_AGO
            await self._through(provider, None)
        except (OAuthFlowError, ValueError) as error:
            raise McpFailure(
                phrase("The login cannot be renewed: {why}", why=_reason(error)), McpProblem.UNAUTHORISED
            ) from None
        if self._last is None or self._last.status != 200 or provider.context.current_tokens is None:
            raise _not_renewed(self._last)
        return _granted(provider)

    async def _through(self, provider: OAuthClientProvider, refusal: httpx2.Response | None) -> None:
        """Up to the request that is to be allowed: it is answered with `refusal`, and never sent."""
        # The package would print its failures, with what the servers said, where nobody keeps a log.
        logging.getLogger("mcp.client.auth.oauth2").disabled = True
        wanted = httpx2.Request("POST", self._wish.server, headers={"MCP-Protocol-Version": HANDSHAKE_REVISIONS[0]})
        flow = provider.async_auth_flow(wanted)
        try:
            asked = await anext(flow)
            while True:
                if asked is not wanted:
                    response = await self._send(asked)
                elif refusal is not None:
                    response, refusal = refusal, None
                else:
                    return
                asked = await flow.asend(response)
        finally:
            await flow.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OWN_HEADERS}
        body = request.read()
        if self._wish.audiences and request.headers.get("content-type") == _FORM:
            body += f"&{self._audience()}".encode()
        reply = await self._requests.ask(request.method, str(request.url), headers=headers, body=body)
        self._last = reply
        return httpx2.Response(reply.status, headers=list(reply.headers), content=reply.body, request=request)

    def _audience(self) -> str:
        return urlencode({"audience": " ".join(self._wish.audiences)})


class _Memory:
    """What a provider finds and leaves; what of it is kept is not its business."""

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


def _registered(wish: OAuthWish, redirect: str) -> OAuthClientInformationFull | None:
    if wish.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=wish.client_id,
        client_secret=wish.client_secret,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="none" if wish.client_secret is None else "client_secret_post",
    )


def _given_service(wish: OAuthWish) -> OAuthMetadata | None:
    if wish.authorization_url is None or wish.token_url is None:
        return None
    return OAuthMetadata.model_validate(
        {
            "issuer": wish.issuer or wish.authorization_url,
            "authorization_endpoint": wish.authorization_url,
            "token_endpoint": wish.token_url,
        }
    )


def _choose_method(provider: OAuthClientProvider, wish: OAuthWish) -> None:
    """How the authorisation server wants to be told a secret of the settings, which no registration says."""
    client, service = provider.context.client_info, provider.context.oauth_metadata
    if client is None or service is None or wish.client_secret is None or wish.token_url is not None:
        return
    taken = service.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    client.token_endpoint_auth_method = next(
        (method for method in ("client_secret_post", "client_secret_basic") if method in taken), "client_secret_post"
    )


def _refusal(wish: OAuthWish, challenge: str | None) -> httpx2.Response:
    """What makes a provider log in: told where to look, or that everything about the service is known already."""
    # The first scope in a challenge counts, so what the settings say goes before what the server said.
    parts = [f'Bearer scope="{" ".join(wish.scopes)}"'] if wish.scopes else []
    is_known = wish.authorization_url is not None
    if is_known:
        parts.append('Bearer error="insufficient_scope"')
    elif challenge is not None and challenge.isascii() and challenge.isprintable():
        parts.append(challenge)
    wants_more = is_known or any("insufficient_scope" in part for part in parts)
    return httpx2.Response(403 if wants_more else 401, headers={"WWW-Authenticate": ", ".join(parts) or "Bearer"})


def _granted(provider: OAuthClientProvider) -> Grant:
    context = provider.context
    tokens = context.current_tokens
    if tokens is None:
        raise McpFailure(phrase("The login brought no token."), McpProblem.UNAUTHORISED)
    return Grant(
        tokens.access_token,
        tokens.refresh_token,
        context.token_expiry_time if tokens.expires_in is not None else None,
        tokens.scope,
        _dumped(context.client_info),
        _dumped(context.oauth_metadata),
        _dumped(context.protected_resource_metadata),
    )


def _dumped(model: BaseModel | None) -> JsonObject | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


def _read(model: type[_Model], known: JsonObject | None) -> _Model | None:
    return None if known is None else model.model_validate(known)


def _not_renewed(reply: Reply | None) -> McpFailure:
    """Only what OAuth itself says is final: a server in trouble, or a network that asks for a fee, is not."""
    if reply is None:
        return McpFailure(phrase("There is nothing to renew the login with."), McpProblem.UNAUTHORISED)
    try:
        said = load_json(reply.body)
    except NotJson:
        said = None
    is_final = 400 <= reply.status < 500 and isinstance(said, dict) and "error" in said
    problem = McpProblem.UNAUTHORISED if is_final else McpProblem.START
    return McpFailure(phrase("The login was not renewed (status {status}).", status=reply.status), problem)


def _reason(error: Exception) -> str:
    """The first line of what the package says: further ones quote values, and there are tokens among those."""
    if isinstance(error, ValidationError):
        return phrase("what the server sent is not what OAuth wants.")
    lines = str(error).splitlines() or [type(error).__name__]
    return visible(lines[0][:_LONGEST_REASON])
