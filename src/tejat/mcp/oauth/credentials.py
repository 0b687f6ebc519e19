"""Who we are to a remote server: tokens that are renewed before they run out, and the login that they come from."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tejat.config.settings.types import McpServer
from tejat.core.frozen import replace
from tejat.core.i18n import gettext_lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.callback import AuthorizationResponse, ReadUrl, open_callback_server
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
from tejat.mcp.transports.http_channel import EVENT_STREAM, JSON, ChannelRequest, HttpChannel
from tejat.mcp.transports.http_headers import protocol_headers
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpLimits
from tejat.workspace.threads.daemon import run_in_daemon
from tejat.workspace.web.fetcher import HostResolver, resolve_host

if TYPE_CHECKING:
    from tejat.mcp.oauth.flow import OAuthFlow

ShowUrl: TypeAlias = Callable[[str], Awaitable[None]]
"""Shows the person an address, and opens it in a browser where there is one. It is http or https, and no shell's."""

_REFRESH_MARGIN = 60.0
"""How many seconds before its end a token is renewed."""
_LOCK_SECONDS = 60.0
_PROBE_LIMITS = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, total=20.0)


def create_oauth_credentials(
    alias: str, server: McpServer, *, client: HttpClient, store: TokenStore
) -> "OAuthCredentials | None":
    """What tells a remote server who asks, None where OAuth is switched off. Nobody has to have logged in.

    Raises McpFailure with CONFIGURATION for settings that are not supported.
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
) -> None:
    """Let the person log in with a browser, and keep what they grant.

    They come back to a port of this machine; where the browser runs on another one, they paste the address that they
    got to, which `read_address` gives. `challenge` is that of an McpFailure; without one the server is asked for it.
    Raises McpFailure.
    """
    settings, key = parse_oauth_settings(server), token_key(alias, server)
    flow = await _import_flow()
    requests = OAuthHttpClient(client, settings.server_url, resolve=resolve)
    try:
        async with asyncio.timeout(seconds), open_callback_server(settings.redirect_uri) as back:
            challenge = challenge or await _fetch_challenge(server, client)

            async def send_person(page: str) -> AuthorizationResponse:
                address = await requests.check_url(page)
                # A browser may be back before it is known that it was opened.
                back.expect_state(parse_qs(urlsplit(address).query).get("state", [""])[0])
                await show_url(address)
                return await back.wait(read_url)

            known = store.read(key)
            grant = await flow(settings, requests).log_in(
                redirect_uri=back.url,
                challenge=challenge,
                authorize=send_person,
                previous_scope=None if known is None else known.scope,
            )
    except TimeoutError:
        message = gettext_lazy(
            "Nobody logged in within {seconds:g} seconds. Try again when you are ready.", seconds=seconds
        )
        raise McpFailure(message, McpProblem.TIMED_OUT) from None
    async with store.lock(key, seconds=_LOCK_SECONDS):
        store.write(key, grant)


class OAuthCredentials:
    """The `Credentials` of one server. Where nobody has logged in there are none, and the server will say so."""

    def __init__(self, settings: OAuthSettings, key: TokenKey, requests: OAuthHttpClient, store: TokenStore) -> None:
        self._settings = settings
        self._key = key
        self._http = requests
        self._store = store
        self._grant: OAuthGrant | None = None
        self._refreshing: asyncio.Task[OAuthGrant] | None = None

    async def headers(self) -> Mapping[str, str]:
        """Raises McpFailure when a token has run out and cannot be renewed."""
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
        """Raises McpFailure when the token cannot be renewed."""
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
        """Renew it once, however many ask for it. Whoever stops waiting does not stop the renewing:

        the old token may be void already, and the new one would be lost.
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
                # The others need not try.
                self._store.write(self._key, replace(kept, refresh_token=None))
                raise self._expired_failure() from None
            self._store.write(self._key, grant)
            return grant

    def _expired_failure(self) -> McpFailure:
        alias = sanitize_text(self._key.alias)
        return McpFailure(
            gettext_lazy("The login at {alias} has ended. Log in again: tejat mcp auth {alias}", alias=alias),
            McpProblem.UNAUTHORIZED,
        )


async def _fetch_challenge(server: McpServer, client: HttpClient) -> str | None:
    """What the server says about who may ask; None if it lets anybody ask, or does not say."""
    channel = HttpChannel(client, server.http_url or server.url or "", headers=server.headers)
    if server.type == "sse" and not server.http_url:
        asked = [ChannelRequest("GET", {"Accept": EVENT_STREAM}, _PROBE_LIMITS)]
    else:
        asked = [_probe_request(request) for request in (_INITIALIZE, _DISCOVER)]
    try:
        for each in asked:
            async with channel.request(each) as response:
                if response.status < _BAD_REQUEST:
                    return None
    except McpFailure as failure:
        if failure.problem is not McpProblem.UNAUTHORIZED:
            raise
        return failure.challenge
    return None


def _probe_request(request: JsonRpcRequest) -> ChannelRequest:
    kinds = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
    headers = kinds | protocol_headers(request, revision=None, session=None)
    return ChannelRequest("POST", headers, _PROBE_LIMITS, dump_json(message_to_json(request)).encode())


_BAD_REQUEST = 400
_CLIENT: JsonObject = {"name": "tejat", "version": "0"}
_INITIALIZE = JsonRpcRequest(
    1,
    "initialize",
    {"protocolVersion": HANDSHAKE_REVISIONS[0], "capabilities": {}, "clientInfo": _CLIENT},
)
_DISCOVER = JsonRpcRequest(
    1,
    "server/discover",
    {"_meta": {META_REVISION: STATELESS_REVISIONS[0], META_CLIENT: _CLIENT, META_CAPABILITIES: {}}},
)
"""A server of the stateless revisions may refuse the other without a word about who may ask."""


async def _import_flow() -> "type[OAuthFlow]":
    """Raises McpFailure where the package is not installed."""
    if find_spec("mcp") is None:
        message = gettext_lazy("Logging in at a server needs the package mcp: pip install 'tejat[oauth]'")
        raise McpFailure(message, McpProblem.CONFIGURATION)
    return await run_in_daemon(_load_flow)


def _load_flow() -> "type[OAuthFlow]":
    # Loading it takes longer than all the rest of the program.
    from tejat.mcp.oauth.flow import OAuthFlow

    return OAuthFlow


def _authorization_header(grant: OAuthGrant) -> dict[str, str]:
    return {"Authorization": f"Bearer {grant.access_token}"}


def _expires_within(grant: OAuthGrant, seconds: float) -> bool:
    return grant.expires_at is not None and grant.expires_at - time.time() <= seconds
