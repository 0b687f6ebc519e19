"""Requests to authorisation servers: whoever names one must not lead us to where nobody agreed to go."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tejat.core.value import value
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.workspace.fetch.addresses import Place, is_literal, place_of, place_of_host
from tejat.workspace.fetch.fetch import Resolve, look_up
from tejat.workspace.fetch.urls import BadUrl, Url, parse_url
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import Dial, HttpFailure, HttpLimits, HttpProblem

_SECONDS = 20.0
_LIMITS = HttpLimits(connect=5.0, first_byte=20.0, idle=20.0, whole=20.0)
_MOST_BYTES = 2**20
_MOST_ADDRESSES = 4


@value
class Reply:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class OAuthRequests:
    """Asks on behalf of one MCP server.

    What a server on the public internet names must be on the public internet too, encrypted, and is dialled by the
    address that was checked. A server on this machine or on a private network may name others there. Its own origin
    is never in question: we talk to it already.
    """

    def __init__(self, client: HttpClient, server: str, *, resolve: Resolve = look_up) -> None:
        self._client = client
        self._server = _parsed(server)
        self._resolve = resolve
        self._is_among_friends: bool | None = None

    async def ask(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Reply:
        """Raises McpFailure."""
        where = _parsed(url)
        try:
            async with asyncio.timeout(_SECONDS):
                *others, last = await self._dials(where)
                for dial in others:
                    with suppress(_NotThere):
                        return await self._ask(method, where, headers=headers, body=body, dial=dial)
                return await self._ask(method, where, headers=headers, body=body, dial=last)
        except TimeoutError:
            message = phrase(
                "{origin} did not answer within {seconds:g} seconds.", origin=where.origin, seconds=_SECONDS
            )
            raise McpFailure(message, McpProblem.TIMED_OUT) from None

    async def check_page(self, url: str) -> str:
        """The address of a page that the person is sent to, as it should be opened. Raises McpFailure."""
        where = _parsed(url)
        await self._dials(where)
        return str(where)

    async def _ask(
        self, method: str, where: Url, *, headers: Mapping[str, str], body: bytes, dial: Dial | None
    ) -> Reply:
        try:
            async with self._client.request(
                method, str(where), headers=headers, body=body, limits=_LIMITS, dial=dial
            ) as response:
                found = await response.read(_MOST_BYTES)
                return Reply(response.status, tuple(response.headers.items()), found)
        except HttpFailure as failure:
            is_there = failure.problem not in (HttpProblem.CONNECT, HttpProblem.TIMED_OUT_CONNECT)
            raise (McpFailure if is_there else _NotThere)(failure.message, McpProblem.START) from None

    async def _dials(self, where: Url) -> Sequence[Dial | None]:
        """The ways to a place, None where a proxy is asked. Raises McpFailure for a forbidden one.

        Whatever is dialled has a connection of its own: on one that is used again a request may be sent twice, and a
        token that is presented twice is void.
        """
        places, addresses = await self._places(where)
        if where.origin != self._server.origin:
            await self._check(where, places)
        return tuple(map(_dialling, addresses)) or (None,)

    async def _check(self, where: Url, places: set[Place]) -> None:
        if Place.FORBIDDEN in places:
            raise _refused(where, phrase("which is no address of the public internet"))
        if Place.PRIVATE in places and not await self._may_be_private():
            raise _refused(where, phrase("which is on this machine or a private network, though the server is not"))
        if where.scheme != "https" and Place.PUBLIC in places:
            raise _refused(where, phrase("which is not encrypted"))

    async def _may_be_private(self) -> bool:
        if self._is_among_friends is None:
            places, _ = await self._places(self._server)
            self._is_among_friends = places == {Place.PRIVATE}
        return self._is_among_friends

    async def _places(self, where: Url) -> tuple[set[Place], list[str]]:
        """Where a host leads, and the addresses that it was found at; none where a proxy does the looking up."""
        spelled = place_of_host(where.host)
        if is_literal(where.host):
            return {place_of(where.host.strip("[]"))}, [where.host.strip("[]")]
        if self._client.is_proxied(str(where)):
            return {spelled or Place.PUBLIC}, []
        try:
            addresses = list(await self._resolve(where.host, where.real_port))[:_MOST_ADDRESSES]
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise McpFailure(phrase("The name {host} could not be resolved.", host=where.host), McpProblem.START)
        return {place_of(address) for address in addresses}, addresses


class _NotThere(McpFailure):
    """Nobody answers at an address; another one of the same host may be better."""


def _parsed(url: str) -> Url:
    try:
        return parse_url(url)
    except BadUrl as bad:
        raise McpFailure(
            phrase("An address for the login cannot be used. {bad}", bad=bad), McpProblem.CONFIGURATION
        ) from None


def _dialling(address: str) -> Dial:
    async def dial(_: str, port: int) -> tuple[str, int]:
        return address, port

    return dial


def _refused(where: Url, why: str) -> McpFailure:
    return McpFailure(
        phrase("The login would lead to {origin}, {why}. It is not done.", origin=where.origin, why=why),
        McpProblem.CONFIGURATION,
    )
