"""Who we are to a remote server: tokens that are renewed before they run out, and the login that they come from."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tejat.config.settings import McpServer
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject
from tejat.core.value import replace
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.http_channel import EVENT_STREAM, JSON, Asked, Channel
from tejat.mcp.http_headers import protocol_headers
from tejat.mcp.oauth_callback import ReadAddress, Returned, way_back
from tejat.mcp.oauth_requests import OAuthRequests
from tejat.mcp.oauth_tokens import Grant, Holder, TokenStore
from tejat.mcp.oauth_wish import OAuthWish, holder_of, read_wish
from tejat.mcp.protocol import (
    HANDSHAKE_REVISIONS,
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    STATELESS_REVISIONS,
    Request,
    message_to_json,
)
from tejat.workspace.fetch.fetch import Resolve, look_up
from tejat.workspace.http.background import in_background, result_of
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpLimits

if TYPE_CHECKING:
    from tejat.mcp.oauth_flow import Flow

ShowAddress: TypeAlias = Callable[[str], Awaitable[None]]
"""Shows the person an address, and opens it in a browser where there is one. It is http or https, and no shell's."""

_RENEW_BEFORE = 60.0
"""How many seconds before its end a token is renewed."""
_LOCK_SECONDS = 60.0
_PROBING = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, whole=20.0)


def authorisation(alias: str, server: McpServer, *, client: HttpClient, store: TokenStore) -> "Authorisation | None":
    """What tells a remote server who asks, None where OAuth is switched off. Nobody has to have logged in.

    Raises McpFailure with CONFIGURATION for settings that are not supported.
    """
    wish = read_wish(server)
    if server.oauth is not None and server.oauth.get("enabled") is False:
        return None
    return Authorisation(wish, holder_of(alias, server), OAuthRequests(client, wish.server), store)


async def login(
    alias: str,
    server: McpServer,
    *,
    client: HttpClient,
    store: TokenStore,
    show: ShowAddress,
    read_address: ReadAddress | None = None,
    challenge: str | None = None,
    seconds: float = 300.0,
    resolve: Resolve = look_up,
) -> None:
    """Let the person log in with a browser, and keep what they grant.

    They come back to a port of this machine; where the browser runs on another one, they paste the address that they
    got to, which `read_address` gives. `challenge` is that of an McpFailure; without one the server is asked for it.
    Raises McpFailure.
    """
    wish, holder = read_wish(server), holder_of(alias, server)
    flow = await _flow()
    requests = OAuthRequests(client, wish.server, resolve=resolve)
    try:
        async with asyncio.timeout(seconds), way_back(wish.redirect) as back:
            challenge = challenge or await _challenge(server, client)

            async def send_person(page: str) -> Returned:
                address = await requests.check_page(page)
                # A browser may be back before it is known that it was opened.
                back.expect(parse_qs(urlsplit(address).query).get("state", [""])[0])
                await show(address)
                return await back.wait(read_address)

            known = store.read(holder)
            grant = await flow(wish, requests).log_in(
                redirect=back.address,
                challenge=challenge,
                send_person=send_person,
                before=None if known is None else known.scope,
            )
    except TimeoutError:
        message = phrase("Nobody logged in within {seconds:g} seconds. Try again when you are ready.", seconds=seconds)
        raise McpFailure(message, McpProblem.TIMED_OUT) from None
    async with store.locked(holder, seconds=_LOCK_SECONDS):
        store.write(holder, grant)


class Authorisation:
    """The `Credentials` of one server. Where nobody has logged in there are none, and the server will say so."""

    def __init__(self, wish: OAuthWish, holder: Holder, requests: OAuthRequests, store: TokenStore) -> None:
        self._wish = wish
        self._holder = holder
        self._requests = requests
        self._store = store
        self._grant: Grant | None = None
        self._renewing: asyncio.Task[Grant] | None = None

    async def headers(self) -> Mapping[str, str]:
        """Raises McpFailure when a token has run out and cannot be renewed."""
        grant = self._grant
        if grant is None or _ends_within(grant, _RENEW_BEFORE):
            grant = self._grant = self._store.read(self._holder)
        if grant is not None and _ends_within(grant, _RENEW_BEFORE) and grant.refresh_token is not None:
            try:
                grant = await self._renewed(grant)
            except McpFailure:
                if _ends_within(grant, 0):
                    raise
        return {} if grant is None else _said_by(grant)

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """Raises McpFailure when the token cannot be renewed."""
        grant = self._grant = self._store.read(self._holder)
        if grant is None:
            return False
        if _said_by(grant) != refused:
            return True
        if grant.refresh_token is None:
            return False
        await self._renewed(grant)
        return True

    async def _renewed(self, old: Grant) -> Grant:
        """Renew it once, however many ask for it. Whoever stops waiting does not stop the renewing:

        the old token may be void already, and the new one would be lost.
        """
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().create_task(self._renew(old))
            self._renewing.add_done_callback(self._renewed_now)
        return await asyncio.shield(self._renewing)

    def _renewed_now(self, task: "asyncio.Task[Grant]") -> None:
        self._renewing = None
        if not task.cancelled():
            task.exception()

    async def _renew(self, old: Grant) -> Grant:
        async with self._store.locked(self._holder, seconds=_LOCK_SECONDS):
            kept = self._grant = self._store.read(self._holder)
            if kept is not None and kept.access_token != old.access_token:
                return kept
            if kept is None or kept.refresh_token is None:
                raise self._ended()
            flow = await _flow()
            try:
                self._grant = grant = await flow(self._wish, self._requests).renew(kept)
            except McpFailure as failure:
                if failure.problem is not McpProblem.UNAUTHORISED:
                    raise
                # The others need not try.
                self._store.write(self._holder, replace(kept, refresh_token=None))
                raise self._ended() from None
            self._store.write(self._holder, grant)
            return grant

    def _ended(self) -> McpFailure:
        alias = visible(self._holder.alias)
        return McpFailure(
            phrase("The login at {alias} has ended. Log in again: tejat mcp auth {alias}", alias=alias),
            McpProblem.UNAUTHORISED,
        )


async def _challenge(server: McpServer, client: HttpClient) -> str | None:
    """What the server says about who may ask; None if it lets anybody ask, or does not say."""
    channel = Channel(client, server.http_url or server.url or "", headers=server.headers)
    if server.type == "sse" and not server.http_url:
        asked = [Asked("GET", {"Accept": EVENT_STREAM}, _PROBING)]
    else:
        asked = [_posted(request) for request in (_GREETING, _DISCOVERY)]
    try:
        for each in asked:
            async with channel.ask(each) as response:
                if response.status < _BAD_REQUEST:
                    return None
    except McpFailure as failure:
        if failure.problem is not McpProblem.UNAUTHORISED:
            raise
        return failure.challenge
    return None


def _posted(request: Request) -> Asked:
    kinds = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
    headers = kinds | protocol_headers(request, revision=None, session=None)
    return Asked("POST", headers, _PROBING, dump_json(message_to_json(request)).encode())


_BAD_REQUEST = 400
_CLIENT: JsonObject = {"name": "tejat", "version": "0"}
_GREETING = Request(
    1,
    "initialize",
    {"protocolVersion": HANDSHAKE_REVISIONS[0], "capabilities": {}, "clientInfo": _CLIENT},
)
_DISCOVERY = Request(
    1,
    "server/discover",
    {"_meta": {META_REVISION: STATELESS_REVISIONS[0], META_CLIENT: _CLIENT, META_CAPABILITIES: {}}},
)
"""A server of the stateless revisions may refuse the other without a word about who may ask."""


async def _flow() -> "type[Flow]":
    """Raises McpFailure where the package is not installed."""
    if find_spec("mcp") is None:
        message = phrase("Logging in at a server needs the package mcp: pip install 'tejat[oauth]'")
        raise McpFailure(message, McpProblem.CONFIGURATION)
    return await result_of(in_background(_load_flow))


def _load_flow() -> "type[Flow]":
    # Loading it takes longer than all the rest of the program.
    from tejat.mcp.oauth_flow import Flow

    return Flow


def _said_by(grant: Grant) -> dict[str, str]:
    return {"Authorization": f"Bearer {grant.access_token}"}


def _ends_within(grant: Grant, seconds: float) -> bool:
    return grant.expires_at is not None and grant.expires_at - time.time() <= seconds
