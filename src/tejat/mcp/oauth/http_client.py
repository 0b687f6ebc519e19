"""Requests to authorisation servers: whoever names one must not lead us to where nobody agreed to go."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy
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


@frozen
class OAuthResponse:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class OAuthHttpClient:
    """Asks on behalf of one MCP server.

    What a server on the public internet names must be on the public internet too, encrypted, and is dialled by the
    address that was checked. A server on this machine or on a private network may name others there. Its own origin
    is never in question: we talk to it already.
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
            message = gettext_lazy(
                "{origin} did not answer within {seconds:g} seconds.", origin=where.origin, seconds=_TIMEOUT
            )
            raise McpFailure(message, McpProblem.TIMED_OUT) from None

    async def check_url(self, url: str) -> str:
        """The address of a page that the person is sent to, as it should be opened. Raises McpFailure."""
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
        """The ways to a place, None where a proxy is asked. Raises McpFailure for a forbidden one.

        Whatever is dialled has a connection of its own: on one that is used again a request may be sent twice, and a
        token that is presented twice is void.
        """
        places, addresses = await self._places(where)
        if where.origin != self._server.origin:
            await self._check_places(where, places)
        return tuple(map(_dial_address, addresses)) or (None,)

    async def _check_places(self, where: Url, places: set[NetworkZone]) -> None:
        if NetworkZone.FORBIDDEN in places:
            raise _forbidden(where, gettext_lazy("which is no address of the public internet"))
        if NetworkZone.PRIVATE in places and not await self._may_be_private():
            raise _forbidden(
                where, gettext_lazy("which is on this machine or a private network, though the server is not")
            )
        if where.scheme != "https" and NetworkZone.PUBLIC in places:
            raise _forbidden(where, gettext_lazy("which is not encrypted"))

    async def _may_be_private(self) -> bool:
        if self._is_server_private is None:
            places, _ = await self._places(self._server)
            self._is_server_private = places == {NetworkZone.PRIVATE}
        return self._is_server_private

    async def _places(self, where: Url) -> tuple[set[NetworkZone], list[str]]:
        """Where a host leads, and the addresses that it was found at; none where a proxy does the looking up."""
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
            raise McpFailure(gettext_lazy("The name {host} could not be resolved.", host=where.host), McpProblem.START)
        return {classify_address(address) for address in addresses}, addresses


class _Unreachable(McpFailure):
    """Nobody answers at an address; another one of the same host may be better."""


def _parse(url: str) -> Url:
    try:
        return parse_url(url)
    except InvalidUrl as bad:
        raise McpFailure(
            gettext_lazy("An address for the login cannot be used. {bad}", bad=bad), McpProblem.CONFIGURATION
        ) from None


def _dial_address(address: str) -> AddressResolver:
    async def dial(_: str, port: int) -> tuple[str, int]:
        return address, port

    return dial


def _forbidden(where: Url, why: str) -> McpFailure:
    return McpFailure(
        gettext_lazy("The login would lead to {origin}, {why}. It is not done.", origin=where.origin, why=why),
        McpProblem.CONFIGURATION,
    )
