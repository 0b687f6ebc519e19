"""Servers that are reached by an address: which transport the settings of one mean."""

import asyncio
from collections.abc import Mapping
from ipaddress import ip_address
from socket import gethostname

from tejat.config.settings import McpServer
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.http_channel import Credentials
from tejat.mcp.old_sse import OldSseTransport
from tejat.mcp.protocol import Message, Request, RequestId
from tejat.mcp.streamable_http import StreamableHttpTransport
from tejat.mcp.transport import Lose, Receive, Transport
from tejat.workspace.http.address import Origin, read_url
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpFailure

_NEARBY = (".localhost", ".local", ".localdomain", ".internal", ".lan", ".home", ".arpa", ".private", ".corp", ".test")
"""How names end that mean something only in a network of one's own."""
_STREAMABLE = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})


@value
class Remote:
    """A server that is reached by an address. `where` is its origin: there may be a secret in the rest.

    `kind` is "http" or "sse"; where nobody said so it is "http", which is tried first. `warning` is worth showing.
    """

    transport: Transport
    kind: str
    where: str
    warning: str = ""


def is_remote(server: McpServer) -> bool:
    """Whether a server is reached by its address, and not by starting a command. Raises McpFailure if by neither."""
    if server.http_url or server.url:
        return True
    if server.command:
        return False
    if server.tcp:
        raise _wrong(
            phrase("The transport tcp is not supported: give the server's address as httpUrl or url, or a command.")
        )
    raise _wrong(
        phrase("Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio).")
    )


def reach(server: McpServer, client: HttpClient, *, credentials: Credentials | None = None) -> Remote:
    """The way to a server for which `is_remote` holds. Nothing is connected yet, and the client stays the caller's.

    Raises McpFailure with CONFIGURATION.
    """
    url = server.http_url or server.url or ""
    origin = _origin(url)
    kind = "http" if server.http_url else _kind(server.type)
    make = {"http": StreamableHttpTransport, "sse": OldSseTransport}.get(kind, EitherTransport)
    transport = make(client, url, server.headers, credentials=credentials)
    where = f"{origin.scheme}://{origin.host_header}"
    is_open = not origin.is_secure and not _is_this_machine(origin)
    warning = (
        phrase("{where} is not encrypted: whatever goes there, and who asks, can be read on the way.", where=where)
        if is_open
        else ""
    )
    return Remote(transport, "sse" if kind == "sse" else "http", where, warning)


def _is_this_machine(origin: Origin) -> bool:
    name = origin.host.lower().removesuffix(".")
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def is_elsewhere(server: McpServer) -> bool:
    """Whether a server surely runs on another machine, so that no file here can be changed by it. Raises nothing.

    Names and addresses of a network at home or at work may be those of this very machine: they are not sure.
    """
    try:
        origin = _origin(server.http_url or server.url or "")
    except McpFailure:
        return False
    name = origin.host.lower().removesuffix(".")
    try:
        address = ip_address(name)
    except ValueError:
        return "." in name and not name.endswith(_NEARBY) and name != gethostname().lower()
    return address.is_global


class EitherTransport:
    """A server of which nobody said how it speaks: streamable HTTP, and if that fails at first the old way.

    The first answer decides. If both ways fail, the failure of the first is told; a server that wants to know who asks,
    or that nobody can reach, is not tried twice. See `Transport`.
    """

    def __init__(
        self, client: HttpClient, url: str, headers: Mapping[str, str], *, credentials: Credentials | None = None
    ) -> None:
        """Raises McpFailure with CONFIGURATION for an address that is none."""
        self._way: Transport = StreamableHttpTransport(client, url, headers, credentials=credentials)
        self._old_way = lambda: OldSseTransport(client, url, headers, credentials=credentials)
        self._asked: dict[RequestId, Request] = {}
        self._trying: asyncio.Task[None] | None = None
        self._is_decided = False

    async def open(self, receive: Receive, lose: Lose) -> None:
        self._receive = receive
        self._lose = lose
        await self._way.open(self._hear, self._miss)

    async def send(self, message: Message) -> None:
        if isinstance(message, Request) and not self._is_decided:
            self._asked[message.id] = message
        await self._way.send(message)

    def agree(self, revision: str) -> None:
        self._way.agree(revision)

    def forget(self, request_id: RequestId) -> None:
        self._asked.pop(request_id, None)
        self._way.forget(request_id)

    async def close(self) -> None:
        self._asked.clear()
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.wait([self._trying], timeout=0.5)
        await self._way.close()

    @property
    def last_words(self) -> tuple[str, ...]:
        return self._way.last_words

    def _hear(self, message: Message) -> None:
        self._is_decided = True
        self._asked.clear()
        self._receive(message)

    def _miss(self, failure: McpFailure, request_id: RequestId | None) -> None:
        request = None if request_id is None else self._asked.get(request_id)
        if request is None or failure.problem in _NOT_TRIED_AGAIN or self._trying is not None:
            self._lose(failure, request_id)
            return
        self._trying = asyncio.get_running_loop().create_task(self._try_old_way(request, failure))
        self._trying.add_done_callback(self._tried)

    async def _try_old_way(self, request: Request, failure: McpFailure) -> None:
        way = self._old_way()
        try:
            await way.open(self._hear, self._lose)
        except McpFailure:
            if self._asked.pop(request.id, None) is not None:
                self._lose(failure, request.id)
            return
        first, self._way = self._way, way
        self._is_decided = True
        await first.close()
        if self._asked.pop(request.id, None) is not None:
            try:
                await way.send(request)
            except McpFailure as later:
                self._lose(later, request.id)

    def _tried(self, task: "asyncio.Task[None]") -> None:
        self._trying = None
        if not task.cancelled():
            task.result()


_NOT_TRIED_AGAIN = frozenset({McpProblem.UNAUTHORISED, McpProblem.START, McpProblem.CONFIGURATION})


def _origin(url: str) -> Origin:
    try:
        return read_url(url)[0]
    except HttpFailure as failure:
        raise _wrong(failure.message) from None


def _kind(given: str | None) -> str:
    """The transport that `url` is meant for; "either" where nobody said so."""
    kind = (given or "either").strip().lower()
    if kind in _STREAMABLE:
        return "http"
    if kind in ("either", "sse"):
        return kind
    raise _wrong(
        phrase(
            'The type "{kind}" is none for an address: give "http" or "sse", or leave it out.', kind=visible(kind[:60])
        )
    )


def _wrong(message: str) -> McpFailure:
    return McpFailure(message, McpProblem.CONFIGURATION)
