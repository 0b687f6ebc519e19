"""The HTTP client of the whole program: HTTP/1.1 with kept connections, proxies, private certificates and limits."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

from tejat.core.words import phrase
from tejat.workspace.http.address import Origin, read_url
from tejat.workspace.http.connection import Connection, Request
from tejat.workspace.http.opening import open_connection
from tejat.workspace.http.patience import Patience
from tejat.workspace.http.pool import Pool
from tejat.workspace.http.proxies import Proxies, Proxy
from tejat.workspace.http.tls import Trust
from tejat.workspace.http.values import Dial, HttpFailure, HttpLimits, HttpProblem, HttpResponse

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_USUAL_LIMITS = HttpLimits()
_USUAL_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "tejat"}
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class HttpClient:
    """Sends requests. Redirects are not followed, cookies are not kept, nothing is decompressed.

    Nothing is opened before the first request. A client belongs to one event loop, in which it must be closed.
    """

    def __init__(
        self, *, environment: Mapping[str, str], limits: HttpLimits = _USUAL_LIMITS, use_proxies: bool = True
    ) -> None:
        self._limits = limits
        self._trust = Trust(environment)
        self._proxies = Proxies(environment if use_proxies else {})
        self._pool = Pool()

    def warm_up(self) -> None:
        """Begin to load certificates in the background: worth calling early when an https server will be asked."""
        self._trust.warm_up()

    def is_proxied(self, url: str) -> bool:
        """Whether a proxy would be asked to get there: it does the looking up, then. Raises HttpFailure."""
        return self._proxies.between(read_url(url)[0]) is not None

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = _NO_HEADERS,
        body: bytes | Sequence[bytes] = b"",
        limits: HttpLimits | None = None,
        dial: Dial | None = None,
        once: bool = False,
    ) -> AsyncGenerator[HttpResponse]:
        """Send a request and give the response as soon as its headers are there, whatever its status.

        With `once` it is sent over a new connection: one that was kept may be closed at that very moment, and then
        nobody knows whether the server has begun with it, so that sending it again might do it twice.

        Leaving the block ends the request: a body that was not read to its end costs the connection. Raises
        HttpFailure, also while the body is read, and whatever `dial` raises.
        """
        origin, target = read_url(url)
        proxy = None if dial is not None else self._proxies.between(origin)
        pieces = [body] if isinstance(body, bytes) else body
        is_forwarded = proxy is not None and not origin.is_secure
        request = Request(
            method,
            f"http://{origin.host_header}{target}" if is_forwarded else target,
            _all_headers(headers, origin, proxy if is_forwarded else None, method, sum(map(len, pieces))),
        )
        clock = asyncio.get_running_loop().time
        patience = Patience(limits or self._limits, where=origin.authority, clock=clock)
        kept = None if dial is not None or once else self._pool.take((origin, proxy))
        connection, response = await self._perform(
            request, pieces, origin, kept=kept, proxy=proxy, dial=dial, patience=patience
        )
        try:
            if is_forwarded and response.status == 407:
                raise HttpFailure(phrase("The proxy wants a name and a password, or other ones."), HttpProblem.PROXY)
            yield response
        finally:
            if dial is None and connection.can_be_reused():
                self._pool.put((origin, proxy), connection)
            else:
                self._pool.drop(connection)

    async def close(self) -> None:
        """Close every connection; requests under way fail."""
        await self._pool.close()

    async def _perform(
        self,
        request: Request,
        body: Sequence[bytes],
        origin: Origin,
        *,
        kept: Connection | None,
        proxy: Proxy | None,
        dial: Dial | None,
        patience: Patience,
    ) -> tuple[Connection, HttpResponse]:
        """A server may close a kept connection at the moment in which we use it again: then once more on a new one."""
        if kept is not None:
            try:
                return kept, await self._exchange(kept, request, body, patience)
            except HttpFailure as failure:
                if failure.problem is not HttpProblem.CUT or kept.has_heard:
                    raise
        fresh = await open_connection(origin, proxy=proxy, dial=dial, trust=self._trust, patience=patience)
        return fresh, await self._exchange(fresh, request, body, patience)

    async def _exchange(
        self, connection: Connection, request: Request, body: Sequence[bytes], patience: Patience
    ) -> HttpResponse:
        self._pool.hold(connection)
        try:
            return await connection.exchange(request, body, patience)
        except BaseException:
            self._pool.drop(connection)
            raise


def _all_headers(
    given: Mapping[str, str], origin: Origin, forwarded_by: Proxy | None, method: str, size: int
) -> list[tuple[str, str]]:
    """Raises HttpFailure with BAD_HEADER, which names the header and not its value: that may be a key."""
    for name, value in given.items():
        if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
            raise HttpFailure(phrase("A header has a name that cannot be sent."), HttpProblem.BAD_HEADER)
        if name.lower() in _OWN_HEADERS:
            raise HttpFailure(
                phrase("The header {name} is not for the caller to set.", name=name), HttpProblem.BAD_HEADER
            )
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            raise HttpFailure(
                phrase(
                    "The header {name} has a value that cannot be sent: it may have only ASCII and no blanks around "
                    "it.",
                    name=name,
                ),
                HttpProblem.BAD_HEADER,
            )
    names = {name.lower() for name in given}
    headers = [("Host", origin.host_header)]
    headers += [(name, value) for name, value in _USUAL_HEADERS.items() if name.lower() not in names]
    headers += given.items()
    if forwarded_by is not None:
        headers += forwarded_by.headers
    if size or method in {"POST", "PUT", "PATCH"}:
        headers.append(("Content-Length", str(size)))
    return headers
