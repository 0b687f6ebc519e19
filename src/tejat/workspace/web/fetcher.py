"""Fetches web pages, and private hosts only with the user's consent.

A name is resolved once per hop, all its addresses have to be public, and the connection goes to one of the checked
addresses: later DNS answers (rebinding) have no effect.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import AddressResolver, HttpFailure, HttpFailureKind, HttpLimits, HttpResponse
from tejat.workspace.threads.daemon import run_in_daemon
from tejat.workspace.web.body_decoder import ACCEPT_ENCODING, UndecodableBody, create_decoder
from tejat.workspace.web.network_zone import NetworkZone, classify_address, classify_host, is_ip_literal
from tejat.workspace.web.urls import InvalidUrl, Url, parse_url

HostResolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host name and a port to the literal addresses of the host. Raises OSError."""


class FetchedPage(Frozen):
    """A response from `url`, the last one after all redirects. `is_truncated` says that the body is longer."""

    url: str
    status: int
    reason: str
    content_type: str
    body: bytes
    is_truncated: bool


class FetchFailure(TejatError):
    """A page was not fetched. If it `is_blocked`, retrying is useless."""

    def __init__(self, message: str, *, is_blocked: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_blocked = is_blocked


class FetchLimits(Frozen):
    """`seconds` covers everything from the first lookup to the last byte; `body` counts decompressed bytes."""

    seconds: float = 10.0
    body: int = 10_000_000
    redirects: int = 5


DEFAULT_LIMITS = FetchLimits()


class FetchRoute(StrEnum):
    """How the HTTP client reaches servers."""

    DIRECT = "direct"
    PROXY = "proxy"
    """Through the user's proxy: it resolves names, so only the spelling of a host can be checked.

    Private hosts with consent are connected directly.
    """


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """Resolve a name with the system's resolver. Raises OSError."""
    found = await run_in_daemon(lambda: socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM))
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Fetcher:
    """Fetches pages for a session. Never sends cookies, credentials or referrers."""

    def __init__(
        self,
        http: HttpClient,
        *,
        resolve: HostResolver = resolve_host,
        limits: FetchLimits = DEFAULT_LIMITS,
        route: FetchRoute = FetchRoute.DIRECT,
    ) -> None:
        self._http = http
        self._resolve = resolve
        self._limits = limits
        self._route = route

    async def fetch(self, url: str, *, allow_private: frozenset[str] = frozenset()) -> FetchedPage:
        """Fetch a page, whatever its status. Raises FetchFailure.

        `allow_private` are the origins (`http://127.0.0.1:8000`) on private networks that the user allowed.
        """
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._fetch_with_redirects(_parse_or_fail(url), allow_private)
        except TimeoutError:
            message = lazy("The page did not load within {seconds:g} seconds.", seconds=self._limits.seconds)
            raise FetchFailure(message) from None
        except HttpFailure as failure:
            raise FetchFailure(failure.message) from None
        except UndecodableBody as error:
            raise FetchFailure(str(error)) from None

    async def _fetch_with_redirects(self, url: Url, allow_private: frozenset[str]) -> FetchedPage:
        for _ in range(self._limits.redirects + 1):
            got = await self._try_addresses(url, await self._resolve_checked(url, allow_private))
            if isinstance(got, FetchedPage):
                return got
            url = _next_hop(url, got)
        message = lazy("More than {redirects} redirects.", redirects=self._limits.redirects)
        raise FetchFailure(message, is_blocked=True)

    async def _resolve_checked(self, url: Url, allow_private: frozenset[str]) -> list[str]:
        """Return the addresses to connect to for this hop; none if a proxy connects."""
        spelled = classify_host(url.host)
        if spelled is not None:
            _check_zone(spelled, url, allow_private)
        if self._route is FetchRoute.PROXY and spelled is not NetworkZone.PRIVATE:
            return []
        if is_ip_literal(url.host):
            return [url.host.strip("[]")]
        try:
            addresses = list(await self._resolve(url.host, url.effective_port))
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise FetchFailure(lazy("Could not resolve {host}.", host=url.host))
        for address in addresses:
            _check_zone(classify_address(address), url, allow_private, address=address)
        return addresses[:_MAX_ADDRESSES]

    async def _try_addresses(self, url: Url, addresses: list[str]) -> "FetchedPage | str":
        """Return the page, or the location it has moved to."""
        if not addresses:
            return await self._request(url, None, _LIMITS)
        for address in addresses[:-1]:
            try:
                return await self._request(url, address, replace(_LIMITS, connect=_HEAD_START_SECONDS))
            except HttpFailure as failure:
                if failure.kind not in (HttpFailureKind.CONNECT, HttpFailureKind.TIMED_OUT_CONNECT):
                    raise
        return await self._request(url, addresses[-1], _LIMITS)

    async def _request(self, url: Url, address: str | None, limits: HttpLimits) -> "FetchedPage | str":
        resolver = None if address is None else _resolve_to(address)
        async with self._http.request("GET", str(url), headers=_HEADERS, limits=limits, resolver=resolver) as response:
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location is not None:
                return location
            body, was_cut = await _read_body(response, self._limits.body)
            content_type = response.headers.get("Content-Type") or ""
            return FetchedPage(str(url), response.status, response.reason[:_MAX_REASON], content_type, body, was_cut)


_MAX_ADDRESSES = 4
_MAX_REASON = 100
_HEAD_START_SECONDS = 2.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": ACCEPT_ENCODING,
    "User-Agent": "Mozilla/5.0 (compatible; tejat)",
}
# One timeout covers the whole fetch.
_LIMITS = HttpLimits(connect=60.0, first_byte=None, idle=None, total=None)


def _parse_or_fail(url: str) -> Url:
    try:
        return parse_url(url)
    except InvalidUrl as bad:
        raise FetchFailure(str(bad), is_blocked=True) from None


def _next_hop(url: Url, location: str) -> Url:
    try:
        following = url.join(location)
    except InvalidUrl as bad:
        raise FetchFailure(lazy("The page redirects to an invalid address. {bad}", bad=bad), is_blocked=True) from None
    if url.scheme == "https" and following.scheme == "http":
        raise FetchFailure(lazy("The page redirects from https to http. Not followed."), is_blocked=True)
    return following


def _check_zone(zone: NetworkZone, url: Url, allow_private: frozenset[str], *, address: str = "") -> None:
    """Raise FetchFailure for a forbidden address, or a private one without consent."""
    if zone is NetworkZone.PUBLIC or (zone is NetworkZone.PRIVATE and url.origin in allow_private):
        return
    leads = lazy("{host} resolves to {address}", host=url.host, address=address) if address else url.host
    if zone is NetworkZone.FORBIDDEN:
        message = lazy("Blocked: {leads}, which is not a public internet address.", leads=leads)
    else:
        message = lazy("Blocked: {leads}, on this machine or a private network, which was not approved.", leads=leads)
    raise FetchFailure(message, is_blocked=True)


def _resolve_to(address: str) -> AddressResolver:
    async def resolve(_: str, port: int) -> tuple[str, int]:
        return address, port

    return resolve


async def _read_body(response: HttpResponse, limit: int) -> tuple[bytes, bool]:
    """Return the decoded body, and whether it was truncated to `limit` bytes or ended early.

    The compressed bytes are limited too: a body may be nothing but packaging.
    """
    decoder = create_decoder(response.headers.get("Content-Encoding") or "")
    body = bytearray()
    packed = 0
    async for piece in response:
        packed += len(piece)
        body += decoder.decode(piece, limit + 1 - len(body))
        if len(body) > limit or packed > limit:
            return bytes(body[:limit]), True
    return bytes(body), not decoder.is_complete
