"""HTTP requests to authorization servers, protected against server-side request forgery."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import AddressResolver, HttpFailure, HttpFailureKind, HttpLimits
from tejat.workspace.web.fetcher import HostResolver, resolve_host
from tejat.workspace.web.network_zone import NetworkZone, classify_address, classify_host, is_ip_literal
from tejat.workspace.web.urls import InvalidUrl, Url, parse_url

_TIMEOUT = 20.0
_LIMITS = HttpLimits(connect=5.0, first_byte=20.0, idle=20.0, total=20.0)
_MAX_BYTES = 2**20
_MAX_ADDRESSES = 4


class OAuthResponse(Frozen):
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class OAuthHttpClient:
    """Sends requests on behalf of one MCP server.

    URLs from a public server must be public and encrypted, and the connection goes to the address that was checked. A
    server on this machine or in a private network may name others there. Its own origin is always allowed.
    """

    def __init__(self, client: HttpClient, server: str, *, resolve: HostResolver = resolve_host) -> None:
        self._client = client
        self._server = _parse(server)
        self._resolve = resolve
        self._is_server_private: bool | None = None

    async def request(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> OAuthResponse:
        """Raises McpFailure."""
        where = _parse(url)
        try:
            async with asyncio.timeout(_TIMEOUT):
                *others, last = await self._dials(where)
                for dial in others:
                    with suppress(_Unreachable):
                        return await self._request(method, where, headers=headers, body=body, dial=dial)
                return await self._request(method, where, headers=headers, body=body, dial=last)
        except TimeoutError:
            message = lazy("{origin} did not answer within {seconds:g} seconds.", origin=where.origin, seconds=_TIMEOUT)
            raise McpFailure(message, McpProblem.TIMED_OUT) from None

    async def check_url(self, url: str) -> str:
        """Check a page that the user is sent to, and return its URL. Raises McpFailure."""
        where = _parse(url)
        await self._dials(where)
        return str(where)

    async def _request(
        self, method: str, where: Url, *, headers: Mapping[str, str], body: bytes, dial: AddressResolver | None
    ) -> OAuthResponse:
        try:
            async with self._client.request(
                method, str(where), headers=headers, body=body, limits=_LIMITS, resolver=dial
            ) as response:
                found = await response.read(_MAX_BYTES)
                return OAuthResponse(response.status, tuple(response.headers.items()), found)
        except HttpFailure as failure:
            is_there = failure.kind not in (HttpFailureKind.CONNECT, HttpFailureKind.TIMED_OUT_CONNECT)
            raise (McpFailure if is_there else _Unreachable)(failure.message, McpProblem.START) from None

    async def _dials(self, where: Url) -> Sequence[AddressResolver | None]:
        """Return resolvers for the addresses of a URL, None for a proxy. Raises McpFailure for a forbidden one.

        Each uses a connection of its own: on a reused one a request may be sent twice, and a token that is presented
        twice is void.
        """
        places, addresses = await self._places(where)
        if where.origin != self._server.origin:
            await self._check_places(where, places)
        return tuple(map(_dial_address, addresses)) or (None,)

    async def _check_places(self, where: Url, places: set[NetworkZone]) -> None:
        if NetworkZone.FORBIDDEN in places:
            raise _forbidden(where, lazy("which is not a public internet address"))
        if NetworkZone.PRIVATE in places and not await self._may_be_private():
            raise _forbidden(where, lazy("which is on this machine or a private network although the server is not"))
        if where.scheme != "https" and NetworkZone.PUBLIC in places:
            raise _forbidden(where, lazy("which is not encrypted"))

    async def _may_be_private(self) -> bool:
        if self._is_server_private is None:
            places, _ = await self._places(self._server)
            self._is_server_private = places == {NetworkZone.PRIVATE}
        return self._is_server_private

    async def _places(self, where: Url) -> tuple[set[NetworkZone], list[str]]:
        """Return where a host is, and its addresses; none if a proxy resolves it."""
        spelled = classify_host(where.host)
        if is_ip_literal(where.host):
            return {classify_address(where.host.strip("[]"))}, [where.host.strip("[]")]
        if self._client.uses_proxy(str(where)):
            return {spelled or NetworkZone.PUBLIC}, []
        try:
            addresses = list(await self._resolve(where.host, where.effective_port))[:_MAX_ADDRESSES]
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise McpFailure(lazy("Could not resolve {host}.", host=where.host), McpProblem.START)
        return {classify_address(address) for address in addresses}, addresses


class _Unreachable(McpFailure):
    """An address is unreachable; another one of the same host may work."""


def _parse(url: str) -> Url:
    try:
        return parse_url(url)
    except InvalidUrl as bad:
        message = lazy("The login uses an invalid address. {bad}", bad=bad)
        raise McpFailure(message, McpProblem.CONFIGURATION) from None


def _dial_address(address: str) -> AddressResolver:
    async def dial(_: str, port: int) -> tuple[str, int]:
        return address, port

    return dial


def _forbidden(where: Url, why: str) -> McpFailure:
    message = lazy("The login would redirect to {origin}, {why}. Not followed.", origin=where.origin, why=why)
    return McpFailure(message, McpProblem.CONFIGURATION)
