"""What a caller of the HTTP client gives and gets: limits, responses and failures."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from enum import StrEnum
from typing import TypeAlias

from tejat.core.errors import TejatError
from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy

AddressResolver: TypeAlias = Callable[[str, int], Awaitable[tuple[str, int]]]
"""From a host and a port to the literal address to connect to, resolved and checked by the caller.

The name for TLS and the Host header stay the host. Such a connection is never made through a proxy and never shared.
"""


@frozen
class HttpLimits:
    """How long to wait for what, in seconds, and how much to take, in bytes; None is no limit.

    `connect` is for everything until a request can be sent: name, connection, proxy, TLS. `first_byte` runs from the
    sent request to the end of the answer's headers, `idle` from one piece of a body to the next, in both directions,
    `whole` from the beginning to the end of the body. `body` counts what comes over the wire, before any decompression.
    """

    connect: float = 15.0
    first_byte: float | None = 300.0
    idle: float | None = 90.0
    total: float | None = 900.0
    body: int | None = None
    headers: int = 65_536


class HttpFailureKind(StrEnum):
    """What went wrong between us and a server."""

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
    """No whole answer came. The message names the host and port and nothing else of the request."""

    def __init__(self, message: str, problem: HttpFailureKind) -> None:
        super().__init__(message)
        self.message = message
        self.kind = problem


class Headers:
    """The headers of a response in their order; names are compared without regard to case."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: tuple[tuple[str, str], ...] = ()) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str | None:
        """The first value under this name."""
        return next(iter(self.get_all(name)), None)

    def get_all(self, name: str) -> list[str]:
        wanted = name.lower()
        return [value for found, value in self._pairs if found.lower() == wanted]

    def items(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)


_SERVER = gettext_lazy("The server")


class HttpResponse:
    """An answer whose body is still to come.

    Iterating gives the pieces of the body as they arrive, freed of chunks but not decompressed, and raises HttpFailure
    when it does not come whole. It can be read once, and only inside the `async with` that gave it.
    """

    __slots__ = ("_pieces", "_where", "headers", "reason", "status")

    def __init__(
        self, *, status: int, reason: str, headers: Headers, pieces: AsyncIterator[bytes], where: str = _SERVER
    ) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self._pieces = pieces
        self._where = where

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises HttpFailure, with TOO_LARGE when it has more than `limit` bytes."""
        pieces: list[bytes] = []
        size = 0
        async for piece in self._pieces:
            size += len(piece)
            if size > limit:
                raise HttpFailure(
                    gettext_lazy("{where} sent more than {limit} bytes.", where=self._where, limit=limit),
                    HttpFailureKind.TOO_LARGE,
                )
            pieces.append(piece)
        return b"".join(pieces)
