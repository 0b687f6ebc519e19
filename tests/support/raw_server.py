"""A server that sends exactly the given bytes, and checks for leaks."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from support.descriptors import count_leaked, count_open

Result = TypeVar("Result")


class Peer:
    """One connection, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> tuple[str, dict[str, str], bytes]:
        """The request line, headers with lower-case names, and body of the next request."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = [line.split(": ", 1) for line in head[1:] if line]
        headers = {name.lower(): value for name, value in pairs}
        assert len(headers) == len(pairs), head
        return head[0], headers, await self.reader.readexactly(int(headers.get("content-length", "0")))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def start_tls(self, context: ssl.SSLContext) -> None:
        await self.writer.start_tls(context)

    async def wait_closed(self) -> bool:
        """Whether the other side closes soon."""
        with suppress(ConnectionError):
            async with asyncio.timeout(60):
                while await self.reader.read(65_536):
                    pass
        return True

    def reset(self) -> None:
        self.writer.transport.abort()


class RawServer:
    """`connections` counts the clients."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def raw_server(
    answer: Callable[[Peer], Awaitable[None]], *, host: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> AsyncGenerator[RawServer]:
    """Handle each connection with `answer`; its exceptions are raised at the end."""
    serving: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        writers.append(writer)
        serving.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, host, 0, ssl=context)
    found = RawServer(server.sockets[0].getsockname()[1])
    try:
        yield found
    finally:
        server.close()
        for task in serving:
            task.cancel()
        for writer in writers:
            with suppress(AttributeError):  # Python 3.11 cannot abort a transport that closed after its last write
                writer.transport.abort()
        ended = await asyncio.gather(*serving, return_exceptions=True)
        errors = [error for error in ended if isinstance(error, Exception)]
        if errors:
            raise errors[0]


def run_checked(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end, and check that no task or descriptor is leaked."""

    async def watched() -> Result:
        result = await work
        for _ in range(10):
            await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert left == set()
        return result

    before = count_open()
    result = asyncio.run(watched())
    assert count_leaked(before) == 0
    return result
