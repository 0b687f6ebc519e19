"""HTTP requests to one MCP server. Credentials are sent to that server only."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Protocol, cast
from urllib.parse import urljoin

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.sanitize import sanitize_text
from tejat.core.text.secret_mask import anonymous_mask
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import MAX_CONTAINERS, InvalidMessage, JsonRpcError, JsonRpcMessage, parse_message
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import EventTooLong, SseEvent, SseParser
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits, HttpResponse
from tejat.workspace.http.url import Origin, parse_url

MAX_MESSAGE_BYTES = 16 * 2**20
"""Limit of one message."""
EVENT_STREAM = "text/event-stream"
JSON = "application/json"
POST_HEADERS = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}


class HttpCredentials(Protocol):
    """Authentication of requests."""

    async def headers(self) -> Mapping[str, str]:
        """Return the headers for the next request, none before a login. Raises McpFailure."""
        ...

    async def refresh(self, rejected: Mapping[str, str]) -> bool:
        """Replace headers that the server rejected. False: there are no others. Raises McpFailure."""
        ...


class ChannelRequest(Frozen):
    """One request. `headers` are those of the protocol. `once`: it has side effects and must not be sent twice."""

    method: str
    headers: Mapping[str, str]
    limits: HttpLimits
    body: bytes = b""
    once: bool = False


class HttpChannel:
    """Sends requests to one origin only. Raises McpFailure for an invalid URL.

    `headers` come from the settings and may contain secrets; an Authorization header replaces the credentials.
    """

    def __init__(
        self,
        client: HttpClient,
        url: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        credentials: HttpCredentials | None = None,
    ) -> None:
        self._client = client
        self._url = url
        self._origin = parse_origin(url)
        self._headers = headers
        has_authorization = any(name.lower() == "authorization" for name in headers)
        self._credentials = None if has_authorization else credentials
        words = {word for value in headers.values() for word in value.split()}
        self._mask = anonymous_mask(words, min_length=_MIN_SECRET_LENGTH)

    @property
    def host(self) -> str:
        """Host and port: the rest of the URL may contain a secret."""
        return self._origin.authority

    def resolve(self, reference: str) -> "HttpChannel":
        """Return a channel to another URL of the same server. Raises McpFailure for another origin."""
        with suppress(ValueError, McpFailure):
            url = urljoin(self._url, reference.strip())
            if parse_origin(url) == self._origin:
                return HttpChannel(self._client, url, headers=self._headers, credentials=self._credentials)
        message = lazy("{where} asks to send messages to another server. Not followed.", where=self.host)
        raise McpFailure(message, McpProblem.CONFIGURATION)

    @asynccontextmanager
    async def request(self, request: ChannelRequest) -> AsyncGenerator[HttpResponse]:
        """Send a request and yield the response, whatever its status, except redirects and rejected credentials.

        Raises McpFailure, also for failures while the body is read.
        """
        try:
            async with AsyncExitStack() as stack:
                yield await self._response(stack, request)
        except HttpFailure as failure:
            raise McpFailure(failure.message, _PROBLEMS[failure.kind]) from None

    async def read_failure(self, response: HttpResponse) -> McpFailure:
        """Read the failure in an error response: with REFUSED, the protocol error in its body."""
        body = b""
        with suppress(HttpFailure):
            body = await response.read(_MAX_ERROR_BYTES)
        with suppress(McpFailure):
            for received in parse_messages(body, ""):
                if isinstance(received, JsonRpcError):
                    return McpFailure(received.message, McpProblem.REFUSED, code=received.code, data=received.data)
        kind = content_type(response)
        words = " ".join(body.decode("utf-8", "replace").split()) if kind in ("text/plain", JSON) else ""
        excerpt = f": {sanitize_text(self._mask.mask_text(words)[:_MAX_EXCERPT_LENGTH])}" if words else "."
        message = lazy(
            "{where} returned {status}{said}", where=self.host, status=_format_status(response.status), said=excerpt
        )
        return McpFailure(message, McpProblem.MALFORMED)

    async def _response(self, stack: AsyncExitStack, request: ChannelRequest) -> HttpResponse:
        can_renew, can_move = True, True
        while True:
            credentials = _NO_HEADERS if self._credentials is None else await self._credentials.headers()
            response = await self._send(stack, request, credentials)
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location is not None:
                self._follow_redirect(location, response.status, can_move=can_move)
                can_move = False
            elif response.status == 401 and can_renew and await self._refresh(credentials):
                can_renew = False
            elif response.status == 401 or (response.status == 403 and response.headers.get("WWW-Authenticate")):
                raise self._unauthorized(response)
            else:
                return response
            await stack.aclose()

    async def _send(
        self, stack: AsyncExitStack, request: ChannelRequest, credentials: Mapping[str, str]
    ) -> HttpResponse:
        own_headers = {**request.headers, **credentials}
        names = {name.lower() for name in own_headers}
        configured = {name: value for name, value in self._headers.items() if name.lower() not in names}
        return await stack.enter_async_context(
            self._client.request(
                request.method,
                self._url,
                headers={**configured, **own_headers},
                body=request.body,
                limits=request.limits,
                new_connection=request.once,
            )
        )

    async def _refresh(self, refused: Mapping[str, str]) -> bool:
        return self._credentials is not None and await self._credentials.refresh(refused)

    def _follow_redirect(self, location: str, status: int, *, can_move: bool) -> None:
        """Follow a redirect within the origin, as for a missing slash. Raises McpFailure for any other."""
        moved, origin = "", None
        with suppress(ValueError, HttpFailure):
            moved = urljoin(self._url, location)
            origin = parse_url(moved)[0]
        if origin == self._origin and status in _METHOD_PRESERVING and can_move:
            self._url = moved
            return
        to = lazy("another address") if origin is None else f"{origin.scheme}://{origin.authority}"
        message = lazy(
            "{where} redirects to {to}. Not followed, because the credentials would be sent there. "
            "If the server moved, change its address in the settings.",
            where=self.host,
            to=to,
        )
        raise McpFailure(message, McpProblem.CONFIGURATION)

    def _unauthorized(self, response: HttpResponse) -> McpFailure:
        challenge = ", ".join(response.headers.get_all("WWW-Authenticate"))[:_MAX_CHALLENGE_LENGTH]
        message = lazy(
            "{where} requires authentication ({status}).", where=self.host, status=_format_status(response.status)
        )
        return McpFailure(message, McpProblem.UNAUTHORIZED, challenge=challenge or None)


def content_type(response: HttpResponse) -> str:
    """Return the media type of a response, without parameters."""
    return (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()


def parse_messages(text: str | bytes, host: str) -> list[JsonRpcMessage]:
    """Parse a message or a batch. Raises McpFailure with MALFORMED."""
    try:
        given = load_json(text, max_containers=MAX_CONTAINERS)
        return [parse_message(item) for item in (cast("list[object]", given) if isinstance(given, list) else [given])]
    except InvalidJson as error:
        why = lazy("not JSON: {why}", why=error)
    except InvalidMessage as error:
        why = str(error)
    message = lazy("{where} sent an invalid message: {why}.", where=host, why=why)
    raise McpFailure(message, McpProblem.MALFORMED)


async def read_events(response: HttpResponse, parser: SseParser, host: str) -> AsyncGenerator[SseEvent]:
    """Yield the complete events of a stream. Raises McpFailure with TOO_LARGE."""
    async for piece in response:
        try:
            events = parser.feed(piece)
        except EventTooLong:
            raise too_large_failure(host) from None
        for event in events:
            yield event


def too_large_failure(host: str) -> McpFailure:
    message = lazy("{where} sent a message larger than {most} MiB.", where=host, most=MAX_MESSAGE_BYTES // 2**20)
    return McpFailure(message, McpProblem.TOO_LARGE)


_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_MAX_ERROR_BYTES = 65_536
_MAX_EXCERPT_LENGTH = 200
_MAX_CHALLENGE_LENGTH = 4_096
_MIN_SECRET_LENGTH = 8
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_METHOD_PRESERVING = frozenset({307, 308})
_PROBLEMS = {
    HttpFailureKind.BAD_URL: McpProblem.CONFIGURATION,
    HttpFailureKind.BAD_HEADER: McpProblem.CONFIGURATION,
    HttpFailureKind.DNS: McpProblem.START,
    HttpFailureKind.CONNECT: McpProblem.START,
    HttpFailureKind.PROXY: McpProblem.START,
    HttpFailureKind.TLS: McpProblem.START,
    HttpFailureKind.TIMED_OUT_CONNECT: McpProblem.START,
    HttpFailureKind.TIMED_OUT_FIRST_BYTE: McpProblem.TIMED_OUT,
    HttpFailureKind.TIMED_OUT_IDLE: McpProblem.TIMED_OUT,
    HttpFailureKind.TIMED_OUT_TOTAL: McpProblem.TIMED_OUT,
    HttpFailureKind.DISCONNECTED: McpProblem.CLOSED,
    HttpFailureKind.PROTOCOL: McpProblem.MALFORMED,
    HttpFailureKind.TOO_LARGE: McpProblem.TOO_LARGE,
}


def parse_origin(url: str) -> Origin:
    """Raises McpFailure with CONFIGURATION."""
    try:
        return parse_url(url)[0]
    except HttpFailure as failure:
        raise McpFailure(failure.message, McpProblem.CONFIGURATION) from None


def _format_status(status: int) -> str:
    with suppress(ValueError):
        return f"{status} {HTTPStatus(status).phrase}"
    return lazy("status {status}", status=status)
