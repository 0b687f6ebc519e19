"""OAuth credentials of a remote server, and the login that they come from."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tejat.config.settings.types import McpServer
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.callback import (
    LOCAL_LISTENER,
    AuthorizationResponse,
    CallbackListener,
    ReadUrl,
    open_callback_server,
)
from tejat.mcp.oauth.http_client import OAuthHttpClient
from tejat.mcp.oauth.settings import OAuthSettings, parse_oauth_settings, token_key
from tejat.mcp.oauth.token_store import OAuthGrant, TokenKey, TokenStore
from tejat.mcp.protocol import (
    HANDSHAKE_REVISIONS,
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    STATELESS_REVISIONS,
    JsonRpcRequest,
    message_to_json,
)
from tejat.mcp.transports.http_channel import EVENT_STREAM, POST_HEADERS, ChannelRequest, HttpChannel
from tejat.mcp.transports.http_headers import protocol_headers
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpLimits
from tejat.workspace.threads.daemon import run_in_daemon
from tejat.workspace.web.fetcher import HostResolver, resolve_host

if TYPE_CHECKING:
    from tejat.mcp.oauth.flow import OAuthFlow

ShowUrl: TypeAlias = Callable[[str], Awaitable[None]]
"""Shows an http or https URL to the user, and opens it in a browser if there is one."""

_REFRESH_MARGIN = 60.0
"""Seconds before its expiry at which a token is refreshed."""
_LOCK_SECONDS = 60.0
_PROBE_LIMITS = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, total=20.0)


def create_oauth_credentials(
    alias: str, server: McpServer, *, client: HttpClient, store: TokenStore
) -> "OAuthCredentials | None":
    """Create the credentials of a remote server, None if OAuth is disabled. A login is not needed yet.

    Raises McpFailure with CONFIGURATION for unsupported settings.
    """
    settings = parse_oauth_settings(server)
    if server.oauth is not None and server.oauth.get("enabled") is False:
        return None
    return OAuthCredentials(settings, token_key(alias, server), OAuthHttpClient(client, settings.server_url), store)


async def login(
    alias: str,
    server: McpServer,
    *,
    client: HttpClient,
    store: TokenStore,
    show_url: ShowUrl,
    read_url: ReadUrl | None = None,
    challenge: str | None = None,
    seconds: float = 300.0,
    resolve: HostResolver = resolve_host,
    listener: CallbackListener = LOCAL_LISTENER,
) -> None:
    """Let the user log in with a browser, and store the grant.

    The browser is redirected to a local port; if it runs on another machine, the user pastes the URL, which `read_url`
    returns. `challenge` is that of an McpFailure; without one the server is asked for it. Raises McpFailure.
    """
    settings, key = parse_oauth_settings(server), token_key(alias, server)
    flow = await _import_flow()
    requests = OAuthHttpClient(client, settings.server_url, resolve=resolve)
    try:
        async with asyncio.timeout(seconds), open_callback_server(settings.redirect_uri, listener) as back:
            challenge = challenge or await _fetch_challenge(server, client)

            async def open_page(page: str) -> AuthorizationResponse:
                address = await requests.check_url(page)
                # The redirect may come before `show_url` returns.
                back.expect_state(parse_qs(urlsplit(address).query).get("state", [""])[0])
                await show_url(address)
                return await back.wait(read_url)

            known = store.read(key)
            grant = await flow(settings, requests).log_in(
                redirect_uri=back.url,
                challenge=challenge,
                authorize=open_page,
                previous_scope=None if known is None else known.scope,
            )
    except TimeoutError:
        message = lazy("Login timed out after {seconds:g} seconds. Try again when you are ready.", seconds=seconds)
        raise McpFailure(message, McpProblem.TIMED_OUT) from None
    async with store.lock(key, seconds=_LOCK_SECONDS):
        store.write(key, grant)


class OAuthCredentials:
    """`HttpCredentials` of one server. Before a login there are no headers."""

    def __init__(self, settings: OAuthSettings, key: TokenKey, requests: OAuthHttpClient, store: TokenStore) -> None:
        self._settings = settings
        self._key = key
        self._http = requests
        self._store = store
        self._grant: OAuthGrant | None = None
        self._refreshing: asyncio.Task[OAuthGrant] | None = None

    async def headers(self) -> Mapping[str, str]:
        """Raises McpFailure when a token has expired and cannot be refreshed."""
        grant = self._grant
        if grant is None or _expires_within(grant, _REFRESH_MARGIN):
            grant = self._grant = self._store.read(self._key)
        if grant is not None and _expires_within(grant, _REFRESH_MARGIN) and grant.refresh_token is not None:
            try:
                grant = await self._refresh_once(grant)
            except McpFailure:
                if _expires_within(grant, 0):
                    raise
        return {} if grant is None else _authorization_header(grant)

    async def refresh(self, rejected: Mapping[str, str]) -> bool:
        """Raises McpFailure when the token cannot be refreshed."""
        grant = self._grant = self._store.read(self._key)
        if grant is None:
            return False
        if _authorization_header(grant) != rejected:
            return True
        if grant.refresh_token is None:
            return False
        await self._refresh_once(grant)
        return True

    async def _refresh_once(self, old: OAuthGrant) -> OAuthGrant:
        """Refresh once for all concurrent callers.

        Cancelling a caller does not cancel the refresh: the old token may be void already, and the new one would be
        lost.
        """
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh(old))
            self._refreshing.add_done_callback(self._refresh_done)
        return await asyncio.shield(self._refreshing)

    def _refresh_done(self, task: "asyncio.Task[OAuthGrant]") -> None:
        self._refreshing = None
        if not task.cancelled():
            task.exception()

    async def _refresh(self, old: OAuthGrant) -> OAuthGrant:
        async with self._store.lock(self._key, seconds=_LOCK_SECONDS):
            kept = self._grant = self._store.read(self._key)
            if kept is not None and kept.access_token != old.access_token:
                return kept
            if kept is None or kept.refresh_token is None:
                raise self._expired_failure()
            flow = await _import_flow()
            try:
                self._grant = grant = await flow(self._settings, self._http).refresh(kept)
            except McpFailure as failure:
                if failure.problem is not McpProblem.UNAUTHORIZED:
                    raise
                # Other processes need not try.
                self._store.write(self._key, replace(kept, refresh_token=None))
                raise self._expired_failure() from None
            self._store.write(self._key, grant)
            return grant

    def _expired_failure(self) -> McpFailure:
        alias = sanitize_text(self._key.alias)
        message = lazy("The login for {alias} has expired. Log in again: tejat mcp auth {alias}", alias=alias)
        return McpFailure(message, McpProblem.UNAUTHORIZED)


async def _fetch_challenge(server: McpServer, client: HttpClient) -> str | None:
    """Return the server's challenge; None if it requires no authentication or sends none."""
    channel = HttpChannel(client, server.http_url or server.url or "", headers=server.headers)
    if server.type == "sse" and not server.http_url:
        probes = [ChannelRequest("GET", {"Accept": EVENT_STREAM}, _PROBE_LIMITS)]
    else:
        probes = [_probe_request(request) for request in (_INITIALIZE, _DISCOVER)]
    try:
        for probe in probes:
            async with channel.request(probe) as response:
                if response.status < _BAD_REQUEST:
                    return None
    except McpFailure as failure:
        if failure.problem is not McpProblem.UNAUTHORIZED:
            raise
        return failure.challenge
    return None


def _probe_request(request: JsonRpcRequest) -> ChannelRequest:
    headers = POST_HEADERS | protocol_headers(request, revision=None, session=None)
    return ChannelRequest("POST", headers, _PROBE_LIMITS, dump_json(message_to_json(request)).encode())


_BAD_REQUEST = 400
_CLIENT: JsonObject = {"name": "tejat", "version": "0"}
_INITIALIZE = JsonRpcRequest(
    1, "initialize", {"protocolVersion": HANDSHAKE_REVISIONS[0], "capabilities": {}, "clientInfo": _CLIENT}
)
_DISCOVER = JsonRpcRequest(
    1,
    "server/discover",
    {"_meta": {META_REVISION: STATELESS_REVISIONS[0], META_CLIENT: _CLIENT, META_CAPABILITIES: {}}},
)
"""A stateless server may refuse `initialize` without a challenge."""


async def _import_flow() -> "type[OAuthFlow]":
    """Import the flow in a thread. Raises McpFailure if the package is not installed."""
    if find_spec("mcp") is None:
        message = lazy("Server logins need the mcp package: pip install 'tejat[oauth]'")
        raise McpFailure(message, McpProblem.CONFIGURATION)
    return await run_in_daemon(_load_flow)


def _load_flow() -> "type[OAuthFlow]":
    # Importing it takes longer than importing everything else.
    from tejat.mcp.oauth.flow import OAuthFlow

    return OAuthFlow


def _authorization_header(grant: OAuthGrant) -> dict[str, str]:
    return {"Authorization": f"Bearer {grant.access_token}"}


def _expires_within(grant: OAuthGrant, seconds: float) -> bool:
    return grant.expires_at is not None and grant.expires_at - time.time() <= seconds
