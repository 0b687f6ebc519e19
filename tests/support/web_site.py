"""A small loopback web server with given answers, and an HTTP client that reaches nothing else."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import AddressResolver, HttpLimits, HttpResponse

SiteAnswer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]

HTML = "text/html; charset=utf-8"


def http_response(body: bytes | str, *, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response. Keywords such as `content_type` become headers."""
    encoded = body.encode() if isinstance(body, str) else body
    given = {"content_length": str(len(encoded)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode() + encoded


def redirect(location: str, status: str = "302 Found") -> bytes:
    return http_response("", status=status, location=location)


@dataclass
class WebSite:
    """The answers by path, and all requests."""

    port: int
    answers: Mapping[str, SiteAnswer]
    requests: list[str] = field(default_factory=list[str])
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    _at_work: "set[asyncio.Task[None]]" = field(default_factory=set[asyncio.Task[None]])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.requests]

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def stop(self) -> None:
        tasks = list(self._at_work)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            self.was_asked.set()
            say = self.answers.get(head.split(" ")[1].partition("?")[0], http_response("no", status="404 Not Found"))
            if isinstance(say, bytes):
                writer.write(say)
                await writer.drain()
            else:
                await say(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def open_site(answers: Mapping[str, SiteAnswer], *, tls: ssl.SSLContext | None = None) -> AsyncIterator[WebSite]:
    opened = WebSite(0, answers)
    server = await asyncio.start_server(opened.serve, "127.0.0.1", 0, ssl=tls)
    opened.port = server.sockets[0].getsockname()[1]
    async with server:
        try:
            yield opened
        finally:
            await opened.stop()
            await asyncio.sleep(0)  # let what was closed be closed


class FakeInternet(HttpClient):
    """Every connection goes to one site; the addresses are recorded."""

    def __init__(self, port: int) -> None:
        super().__init__(environment={}, use_proxies=False)
        self.connected: list[tuple[str, int]] = []
        self.dead: set[str] = set()
        self._port = port

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = {},
        body: bytes | Sequence[bytes] = b"",
        limits: HttpLimits | None = None,
        resolver: AddressResolver | None = None,
    ) -> AbstractAsyncContextManager[HttpResponse]:
        assert resolver is not None, "every address must have been checked"

        async def reroute(host: str, port: int) -> tuple[str, int]:
            where = await resolver(host, port)
            self.connected.append(where)
            return "127.0.0.1", 9 if where[0] in self.dead else self._port

        return super().request(method, url, headers=headers, body=body, limits=limits, resolver=reroute)
