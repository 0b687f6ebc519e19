"""Choice of the transport for servers with a URL."""

import asyncio
from ipaddress import ip_address
from socket import gethostname

from tejat.config.settings.types import McpServer
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcMessage, JsonRpcRequest, RequestId
from tejat.mcp.transports.base import FailureHandler, MessageHandler, Transport
from tejat.mcp.transports.http_channel import HttpChannel, HttpCredentials, parse_origin
from tejat.mcp.transports.sse import SseTransport
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.url import Origin

_LOCAL_SUFFIXES = (
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".lan",
    ".home",
    ".arpa",
    ".private",
    ".corp",
    ".test",
)
"""Suffixes of host names in local networks."""
_STREAMABLE_TYPES = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})


class RemoteTransport(Frozen):
    """The transport to a server with a URL. `location` is its origin: the rest may contain a secret.

    `kind` is "http" or "sse"; if the settings do not say, it is "http", which is tried first. `warning` is for the
    user.
    """

    transport: Transport
    kind: str
    location: str
    warning: str = ""


def create_remote_transport(
    server: McpServer, client: HttpClient, *, credentials: HttpCredentials | None = None
) -> RemoteTransport:
    """Create the transport to a server with a URL. Nothing is connected yet; the caller owns the client.

    Raises McpFailure with CONFIGURATION.
    """
    url = server.http_url or server.url or ""
    origin = parse_origin(url)
    kind = "http" if server.http_url else _transport_kind(server.type)
    make = {"http": StreamableHttpTransport, "sse": SseTransport}.get(kind, FallbackTransport)
    transport = make(HttpChannel(client, url, headers=server.headers, credentials=credentials))
    where = f"{origin.scheme}://{origin.host_header}"
    warning = ""
    if not origin.is_secure and not _is_loopback(origin):
        warning = lazy("{where} is not encrypted: messages and credentials can be read in transit.", where=where)
    return RemoteTransport(transport, "sse" if kind == "sse" else "http", where, warning)


def _is_loopback(origin: Origin) -> bool:
    name = origin.host.lower().removesuffix(".")
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def is_on_other_host(server: McpServer) -> bool:
    """Return whether a server certainly runs on another machine, so that it cannot change local files. Never raises.

    Names and addresses in local networks may refer to this machine: they do not count.
    """
    try:
        origin = parse_origin(server.http_url or server.url or "")
    except McpFailure:
        return False
    name = origin.host.lower().removesuffix(".")
    try:
        address = ip_address(name)
    except ValueError:
        return "." in name and not name.endswith(_LOCAL_SUFFIXES) and name != gethostname().lower()
    return address.is_global


class FallbackTransport:
    """Tries Streamable HTTP first and falls back to SSE, for a server whose type is not set.

    The first response decides. If both fail, the first failure is reported. A server that requires authentication or is
    unreachable is not tried twice.
    """

    def __init__(self, channel: HttpChannel) -> None:
        self._transport: Transport = StreamableHttpTransport(channel)
        self._create_sse = lambda: SseTransport(channel)
        self._requests: dict[RequestId, JsonRpcRequest] = {}
        self._fallback: asyncio.Task[None] | None = None
        self._is_decided = False

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        self._on_message = on_message
        self._on_failure = on_failure
        await self._transport.open(self._handle_message, self._handle_failure)

    async def send(self, message: JsonRpcMessage) -> None:
        if isinstance(message, JsonRpcRequest) and not self._is_decided:
            self._requests[message.id] = message
        await self._transport.send(message)

    def set_revision(self, revision: str) -> None:
        self._transport.set_revision(revision)

    def forget_request(self, request_id: RequestId) -> None:
        self._requests.pop(request_id, None)
        self._transport.forget_request(request_id)

    async def close(self) -> None:
        self._requests.clear()
        if self._fallback is not None:
            self._fallback.cancel()
            await asyncio.wait([self._fallback], timeout=0.5)
        await self._transport.close()

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        return self._transport.stderr_tail

    def _handle_message(self, message: JsonRpcMessage) -> None:
        self._is_decided = True
        self._requests.clear()
        self._on_message(message)

    def _handle_failure(self, failure: McpFailure, request_id: RequestId | None) -> None:
        request = None if request_id is None else self._requests.get(request_id)
        if request is None or failure.problem in _NO_FALLBACK or self._fallback is not None:
            self._on_failure(failure, request_id)
            return
        self._fallback = asyncio.get_running_loop().create_task(self._try_sse(request, failure))
        self._fallback.add_done_callback(self._fallback_done)

    async def _try_sse(self, request: JsonRpcRequest, failure: McpFailure) -> None:
        transport = self._create_sse()
        try:
            await transport.open(self._handle_message, self._on_failure)
        except McpFailure:
            if self._requests.pop(request.id, None) is not None:
                self._on_failure(failure, request.id)
            return
        previous, self._transport = self._transport, transport
        self._is_decided = True
        await previous.close()
        if self._requests.pop(request.id, None) is not None:
            try:
                await transport.send(request)
            except McpFailure as later:
                self._on_failure(later, request.id)

    def _fallback_done(self, task: "asyncio.Task[None]") -> None:
        self._fallback = None
        if not task.cancelled():
            task.result()


_NO_FALLBACK = frozenset({McpProblem.UNAUTHORIZED, McpProblem.START, McpProblem.CONFIGURATION})


def _transport_kind(given: str | None) -> str:
    """Return the transport that the type stands for; "either" if it is not set."""
    kind = (given or "either").strip().lower()
    if kind in _STREAMABLE_TYPES:
        return "http"
    if kind in ("either", "sse"):
        return kind
    message = lazy(
        'Invalid type "{kind}" for an address: use "http" or "sse", or remove it.',
        kind=sanitize_text(kind[:60]),
    )
    raise _configuration_failure(message)


def _configuration_failure(message: str) -> McpFailure:
    return McpFailure(message, McpProblem.CONFIGURATION)
