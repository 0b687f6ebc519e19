"""Types of the HTTP client: limits, responses and failures."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeAlias

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum

AddressResolver: TypeAlias = Callable[[str, int], Awaitable[tuple[str, int]]]
"""Maps a host and a port to the literal address to connect to, checked by the caller.

TLS and the Host header still use the host name. Such a connection uses no proxy and is never shared.
"""


class HttpLimits(Frozen):
    """Timeouts in seconds and sizes in bytes; None means no limit.

    `connect` covers everything until a request can be sent: DNS, TCP, proxy, TLS. `first_byte` runs from the sent
    request to the end of the response headers, `idle` between two chunks in either direction, `total` to the end of the
    body. `body` counts bytes before decompression.
    """

    connect: float = 15.0
    first_byte: float | None = 300.0
    idle: float | None = 90.0
    total: float | None = 900.0
    body: int | None = None
    headers: int = 65_536


class HttpFailureKind(StrEnum):
    """What failed in an HTTP exchange."""

    BAD_URL = "bad_url"
    BAD_HEADER = "bad_header"
    DNS = "dns"
    CONNECT = "connect"
    PROXY = "proxy"
    TLS = "tls"
    TIMED_OUT_CONNECT = "timed_out_connect"
    TIMED_OUT_FIRST_BYTE = "timed_out_first_byte"
    TIMED_OUT_IDLE = "timed_out_idle"
    TIMED_OUT_TOTAL = "timed_out_whole"
    DISCONNECTED = "cut"
    PROTOCOL = "protocol"
    TOO_LARGE = "too_large"


class HttpFailure(TejatError):
    """The exchange failed. The message names host and port and nothing else of the request."""

    def __init__(self, message: str, kind: HttpFailureKind) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


def body_too_large(where: str, limit: int) -> HttpFailure:
    message = lazy("{where} sent more than {limit} bytes.", where=where, limit=limit)
    return HttpFailure(message, HttpFailureKind.TOO_LARGE)


class Headers:
    """Headers in their order, with case-insensitive names."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: tuple[tuple[str, str], ...] = ()) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str | None:
        """Return the first value of this header."""
        return next(iter(self.get_all(name)), None)

    def get_all(self, name: str) -> list[str]:
        lowered = name.lower()
        return [value for header, value in self._pairs if header.lower() == lowered]

    def items(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)


_SERVER = lazy("The server")


class HttpResponse:
    """A response whose body has yet to be read.

    Iterating yields the chunks of the body as they arrive, without transfer encoding but not decompressed, and raises
    HttpFailure if it is incomplete. It can be read once, inside the `async with` that yielded it.
    """

    __slots__ = ("_body", "_server", "headers", "reason", "status")

    def __init__(
        self, *, status: int, reason: str, headers: Headers, body: AsyncIterator[bytes], server: str = _SERVER
    ) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self._body = body
        self._server = server

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body

    async def read(self, limit: int) -> bytes:
        """Return the whole body. Raises HttpFailure, with TOO_LARGE for more than `limit` bytes."""
        pieces: list[bytes] = []
        size = 0
        async for piece in self._body:
            size += len(piece)
            if size > limit:
                raise body_too_large(self._server, limit)
            pieces.append(piece)
        return b"".join(pieces)
