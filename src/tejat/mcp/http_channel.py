"""HTTP requests to one MCP server: who asks is said to that server alone, and what is no answer becomes a failure."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Protocol, cast
from urllib.parse import urljoin

from tejat.core.json_text import NotJson, load_json
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.protocol import MOST_INNER, BadMessage, Message, Refusal, read_message
from tejat.workspace.http.address import Origin, read_url
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import EventTooLong, SseEvent, SseParser
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpProblem, HttpResponse

MOST_BYTES = 16 * 2**20
"""How long one message may be."""
EVENT_STREAM = "text/event-stream"
JSON = "application/json"


class Credentials(Protocol):
    """What tells a server who asks."""

    async def headers(self) -> Mapping[str, str]:
        """The headers for the next request, none where nobody has logged in. Raises McpFailure."""
        ...

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """The server did not take these headers: whether there are others now. Raises McpFailure."""
        ...


@value
class Asked:
    """One request: `headers` are those of the protocol. One that is sent only `once` does something that counts."""

    method: str
    headers: Mapping[str, str]
    limits: HttpLimits
    body: bytes = b""
    once: bool = False


class Channel:
    """The way to one server. Whatever it says, nothing goes to another origin. Raises McpFailure for a bad address.

    `headers` come from the settings and may hold secrets; an Authorization among them takes the place of credentials.
    """

    def __init__(
        self, client: HttpClient, url: str, *, headers: Mapping[str, str], credentials: Credentials | None = None
    ) -> None:
        self._client = client
        self._url = url
        self._origin = _origin_of(url)
        self._headers = headers
        is_said = any(name.lower() == "authorization" for name in headers)
        self._credentials = None if is_said else credentials
        self._secrets = {word for value in headers.values() for word in value.split() if len(word) >= _SHORTEST_SECRET}

    @property
    def where(self) -> str:
        """Host and port: there may be a secret in the rest of the address."""
        return self._origin.authority

    def joined(self, reference: str) -> "Channel":
        """The way to another address of the same server. Raises McpFailure for one of another server."""
        with suppress(ValueError, McpFailure):
            url = urljoin(self._url, reference.strip())
            if _origin_of(url) == self._origin:
                return Channel(self._client, url, headers=self._headers, credentials=self._credentials)
        raise McpFailure(
            phrase("{where} wants its messages sent to another server, which is not done.", where=self.where),
            McpProblem.CONFIGURATION,
        )

    @asynccontextmanager
    async def ask(self, asked: Asked) -> AsyncGenerator[HttpResponse]:
        """Send a request and give the response, whatever its status, but for redirects and refused credentials.

        Raises McpFailure, also in place of what is raised while the body is read.
        """
        try:
            async with AsyncExitStack() as stack:
                yield await self._answer(stack, asked)
        except HttpFailure as failure:
            raise McpFailure(failure.message, _PROBLEMS[failure.problem]) from None

    async def failure(self, response: HttpResponse) -> McpFailure:
        """What a response says that is no answer: with REFUSED, the error of the protocol in its body."""
        body = b""
        with suppress(HttpFailure):
            body = await response.read(_MOST_ERROR_BYTES)
        for message in _messages_or_none(body):
            if isinstance(message, Refusal):
                return McpFailure(message.message, McpProblem.REFUSED, code=message.code, data=message.data)
        kind = kind_of(response)
        words = " ".join(body.decode("utf-8", "replace").split()) if kind in ("text/plain", JSON) else ""
        said = f": {visible(self._masked(words)[:_LONGEST_EXCERPT])}" if words else "."
        return McpFailure(
            phrase(
                "{where} answered {status}{said}", where=self.where, status=_status_in_words(response.status), said=said
            ),
            McpProblem.MALFORMED,
        )

    async def _answer(self, stack: AsyncExitStack, asked: Asked) -> HttpResponse:
        can_renew, can_move = True, True
        while True:
            said = _NOTHING if self._credentials is None else await self._credentials.headers()
            response = await self._sent(stack, asked, said)
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location is not None:
                self._follow(location, response.status, can_move=can_move)
                can_move = False
            elif response.status == 401 and can_renew and await self._renewed(said):
                can_renew = False
            elif response.status == 401 or (response.status == 403 and response.headers.get("WWW-Authenticate")):
                raise self._unauthorised(response)
            else:
                return response
            await stack.aclose()

    async def _sent(self, stack: AsyncExitStack, asked: Asked, credentials: Mapping[str, str]) -> HttpResponse:
        own = {**asked.headers, **credentials}
        names = {name.lower() for name in own}
        given = {name: value for name, value in self._headers.items() if name.lower() not in names}
        return await stack.enter_async_context(
            self._client.request(
                asked.method,
                self._url,
                headers={**given, **own},
                body=asked.body,
                limits=asked.limits,
                once=asked.once,
            )
        )

    async def _renewed(self, refused: Mapping[str, str]) -> bool:
        return self._credentials is not None and await self._credentials.renew(refused)

    def _follow(self, location: str, status: int, *, can_move: bool) -> None:
        """Many servers tell by a redirect that a slash is missing. Raises McpFailure for any other move."""
        moved, origin = "", None
        with suppress(ValueError, HttpFailure):
            moved = urljoin(self._url, location)
            origin = read_url(moved)[0]
        if origin == self._origin and status in _SAME_METHOD and can_move:
            self._url = moved
            return
        to = phrase("somewhere else") if origin is None else f"{origin.scheme}://{origin.authority}"
        raise McpFailure(
            phrase(
                "{where} redirects to {to}, which is not followed: what says who asks must not get there. If that is "
                "where the server is now, change its address in the settings.",
                where=self.where,
                to=to,
            ),
            McpProblem.CONFIGURATION,
        )

    def _unauthorised(self, response: HttpResponse) -> McpFailure:
        challenge = ", ".join(response.headers.get_all("WWW-Authenticate"))[:_LONGEST_CHALLENGE]
        return McpFailure(
            phrase(
                "{where} wants to know who asks ({status}).", where=self.where, status=_status_in_words(response.status)
            ),
            McpProblem.UNAUTHORISED,
            challenge=challenge or None,
        )

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def kind_of(response: HttpResponse) -> str:
    """The media type of a response, without its parameters."""
    return (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()


def read_messages(text: str | bytes, where: str) -> list[Message]:
    """The message that a JSON text is, or the messages of a batch. Raises McpFailure with MALFORMED."""
    try:
        given = load_json(text, most_inner=MOST_INNER)
        return [read_message(item) for item in (cast("list[object]", given) if isinstance(given, list) else [given])]
    except NotJson as error:
        why = phrase("it is not JSON: {why}", why=error)
    except BadMessage as error:
        why = str(error)
    raise McpFailure(
        phrase("{where} sent something that is no message: {why}.", where=where, why=why), McpProblem.MALFORMED
    )


async def read_events(response: HttpResponse, parser: SseParser, where: str) -> AsyncGenerator[SseEvent]:
    """The events of a stream, and no half ones. Raises McpFailure with TOO_LARGE."""
    async for piece in response:
        try:
            events = parser.feed(piece)
        except EventTooLong:
            raise too_large(where) from None
        for event in events:
            yield event


def too_large(where: str) -> McpFailure:
    return McpFailure(
        phrase("{where} sent a message of more than {most} MiB.", where=where, most=MOST_BYTES // 2**20),
        McpProblem.TOO_LARGE,
    )


_NOTHING: Mapping[str, str] = MappingProxyType({})
_MOST_ERROR_BYTES = 65_536
_LONGEST_EXCERPT = 200
_LONGEST_CHALLENGE = 4_096
_SHORTEST_SECRET = 8
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAME_METHOD = frozenset({307, 308})
_PROBLEMS = {
    HttpProblem.BAD_URL: McpProblem.CONFIGURATION,
    HttpProblem.BAD_HEADER: McpProblem.CONFIGURATION,
    HttpProblem.DNS: McpProblem.START,
    HttpProblem.CONNECT: McpProblem.START,
    HttpProblem.PROXY: McpProblem.START,
    HttpProblem.TLS: McpProblem.START,
    HttpProblem.TIMED_OUT_CONNECT: McpProblem.START,
    HttpProblem.TIMED_OUT_FIRST_BYTE: McpProblem.TIMED_OUT,
    HttpProblem.TIMED_OUT_IDLE: McpProblem.TIMED_OUT,
    HttpProblem.TIMED_OUT_WHOLE: McpProblem.TIMED_OUT,
    HttpProblem.CUT: McpProblem.CLOSED,
    HttpProblem.PROTOCOL: McpProblem.MALFORMED,
    HttpProblem.TOO_LARGE: McpProblem.TOO_LARGE,
}


def _origin_of(url: str) -> Origin:
    try:
        return read_url(url)[0]
    except HttpFailure as failure:
        raise McpFailure(failure.message, McpProblem.CONFIGURATION) from None


def _messages_or_none(body: bytes) -> list[Message]:
    with suppress(McpFailure):
        return read_messages(body, "")
    return []


def _status_in_words(status: int) -> str:
    with suppress(ValueError):
        return f"{status} {HTTPStatus(status).phrase}"
    return phrase("with the status {status}", status=status)
