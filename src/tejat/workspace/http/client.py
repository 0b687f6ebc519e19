"""HTTP/1.1 client of the whole program, with connection reuse, proxies, custom certificates and limits."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

from tejat.core.i18n import lazy
from tejat.workspace.http.connection import HttpConnection, OutgoingRequest
from tejat.workspace.http.connector import open_connection
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.pool import ConnectionPool
from tejat.workspace.http.proxies import Proxy, ProxySettings
from tejat.workspace.http.tls import CertificateStore
from tejat.workspace.http.types import AddressResolver, HttpFailure, HttpFailureKind, HttpLimits, HttpResponse
from tejat.workspace.http.url import Origin, parse_url

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_DEFAULT_LIMITS = HttpLimits()
_DEFAULT_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "tejat"}
_RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class HttpClient:
    """HTTP client. It follows no redirects, keeps no cookies and decompresses nothing.

    Nothing is opened before the first request. A client belongs to one event loop, in which it must be closed. With
    `ipv4_first`, IPv4 addresses of a host are tried before the others.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        limits: HttpLimits = _DEFAULT_LIMITS,
        use_proxies: bool = True,
        ipv4_first: bool = False,
    ) -> None:
        self._limits = limits
        self._ipv4_first = ipv4_first
        self._certificate_store = CertificateStore(environment)
        self._proxies = ProxySettings(environment if use_proxies else {})
        self._pool = ConnectionPool()

    def warm_up(self) -> None:
        """Start loading certificates in the background. Call it early if an https request will follow."""
        self._certificate_store.warm_up()

    def uses_proxy(self, url: str) -> bool:
        """Return whether the URL is reached through a proxy, which then resolves the host. Raises HttpFailure."""
        return self._proxies.proxy_for(parse_url(url)[0]) is not None

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = _NO_HEADERS,
        body: bytes | Sequence[bytes] = b"",
        limits: HttpLimits | None = None,
        resolver: AddressResolver | None = None,
        new_connection: bool = False,
    ) -> AsyncGenerator[HttpResponse]:
        """Send a request and yield the response once its headers have arrived, whatever its status.

        With `new_connection`, no pooled connection is used: the server might close it at that moment, and it would be
        unknown whether it has processed the request.

        Leaving the block ends the request; an unread rest of the body costs the connection. Raises HttpFailure, also
        while the body is read, and whatever `resolver` raises.
        """
        origin, target = parse_url(url)
        proxy = None if resolver is not None else self._proxies.proxy_for(origin)
        pieces = [body] if isinstance(body, bytes) else body
        is_forwarded = proxy is not None and not origin.is_secure
        request = OutgoingRequest(
            method,
            f"http://{origin.host_header}{target}" if is_forwarded else target,
            _build_headers(headers, origin, proxy if is_forwarded else None, method, sum(map(len, pieces))),
        )
        clock = asyncio.get_running_loop().time
        deadline = RequestDeadline(limits or self._limits, where=origin.authority, clock=clock)
        kept = None if resolver is not None or new_connection else self._pool.acquire((origin, proxy))
        connection, response = await self._send_with_retry(
            request, pieces, origin, pooled=kept, proxy=proxy, resolver=resolver, deadline=deadline
        )
        try:
            if is_forwarded and response.status == 407:
                raise HttpFailure(
                    lazy("The proxy requires a user name and password, or rejected them."), HttpFailureKind.PROXY
                )
            yield response
        finally:
            if resolver is None and connection.is_reusable():
                self._pool.release((origin, proxy), connection)
            else:
                self._pool.discard(connection)

    async def close(self) -> None:
        """Close all connections; running requests fail."""
        await self._pool.close()

    async def _send_with_retry(
        self,
        request: OutgoingRequest,
        body: Sequence[bytes],
        origin: Origin,
        *,
        pooled: HttpConnection | None,
        proxy: Proxy | None,
        resolver: AddressResolver | None,
        deadline: RequestDeadline,
    ) -> tuple[HttpConnection, HttpResponse]:
        """Send the request, once more on a new connection if the server has just closed the pooled one."""
        if pooled is not None:
            try:
                return pooled, await self._exchange(pooled, request, body, deadline)
            except HttpFailure as failure:
                if failure.kind is not HttpFailureKind.DISCONNECTED or pooled.has_received_bytes:
                    raise
        fresh = await open_connection(
            origin,
            proxy=proxy,
            resolver=resolver,
            certificate_store=self._certificate_store,
            deadline=deadline,
            ipv4_first=self._ipv4_first,
        )
        return fresh, await self._exchange(fresh, request, body, deadline)

    async def _exchange(
        self, connection: HttpConnection, request: OutgoingRequest, body: Sequence[bytes], deadline: RequestDeadline
    ) -> HttpResponse:
        self._pool.track(connection)
        try:
            return await connection.send(request, body, deadline)
        except BaseException:
            self._pool.discard(connection)
            raise


def _build_headers(
    custom: Mapping[str, str], origin: Origin, proxy: Proxy | None, method: str, size: int
) -> list[tuple[str, str]]:
    """Build the headers. Raises HttpFailure with BAD_HEADER, which never quotes the value: it may be a key."""
    for name, value in custom.items():
        if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
            raise HttpFailure(lazy("A header has an invalid name."), HttpFailureKind.BAD_HEADER)
        if name.lower() in _RESERVED_HEADERS:
            message = lazy("The header {name} cannot be set.", name=name)
            raise HttpFailure(message, HttpFailureKind.BAD_HEADER)
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            message = lazy(
                "The header {name} has an invalid value: only ASCII without surrounding whitespace is allowed.",
                name=name,
            )
            raise HttpFailure(message, HttpFailureKind.BAD_HEADER)
    names = {name.lower() for name in custom}
    headers = [("Host", origin.host_header)]
    headers += [(name, value) for name, value in _DEFAULT_HEADERS.items() if name.lower() not in names]
    headers += custom.items()
    if proxy is not None:
        headers += proxy.headers
    if size or method in {"POST", "PUT", "PATCH"}:
        headers.append(("Content-Length", str(size)))
    return headers
